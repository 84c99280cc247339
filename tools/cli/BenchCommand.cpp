// fusewright bench [OP ...]: ops on lists of tensors, timed beside a copy of the same bytes.
#include "tools/cli/Commands.h"

#include "tools/bench/Bench.h"
#include "tools/bench/Cases.h"
#include "tools/bench/Chart.h"
#include "tools/bench/RowsBench.h"
#include "tools/cli/Progress.h"
#include "tools/cli/Table.h"
#include "tools/host/RowFacts.h"

#include "compiler/jit/Hash.h"
#include "ops/ShippedOps.h"

#include <algorithm>
#include <fstream>
#include <iostream>

namespace fw::cli {

namespace {

struct BenchFlags {
  std::vector<std::string> ops;
  std::string device = "cuda", plot, save;
  std::vector<std::string> tensors, ids;
  std::vector<int64_t> widths; ///< of ops over rows
  int64_t elements = 0;        ///< of theirs; 0: as many as are usual
  int rounds = 21;
  RequestFlags request;
};

bool isShippedName(const std::string &name) {
  std::vector<std::string> shipped = shippedOpNames();
  return std::ranges::find(shipped, name) != shipped.end();
}

/// The request of the flags; without them what is timed of a shipped op by default, and of any
/// other its default dtypes.
Result<std::vector<Request>> requestsOf(const std::string &name, const BenchFlags &flags) {
  if (!flags.request.namesRequest() && isShippedName(name))
    if (auto listed = bench::defaultRequests(name, flags.ids);
        !listed || !listed->empty() || !flags.ids.empty())
      return listed;
  Result<language::OpHandle> op = findOp(name);
  if (!op)
    return op.takeError();
  Result<Request> request = makeRequest(*op, flags.request, "");
  if (!request)
    return request.takeError();
  return std::vector<Request>{*request};
}

Result<std::vector<Request>> allRequests(const BenchFlags &flags) {
  if (flags.ops.empty())
    return bench::defaultRequests("", flags.ids);
  std::vector<Request> requests;
  for (const std::string &name : flags.ops) {
    auto own = requestsOf(name, flags);
    if (!own)
      return own.takeError();
    requests.insert(requests.end(), own->begin(), own->end());
  }
  return requests;
}

Result<std::vector<bench::TensorList>> listsOf(const BenchFlags &flags, bool onGpu) {
  std::vector<bench::TensorList> lists;
  const std::vector<std::string> usual = {onGpu ? "bert-large" : "resnet-50"};
  for (const std::string &text : flags.tensors.empty() ? usual : flags.tensors) {
    auto parsed = bench::parseLists(text);
    if (!parsed)
      return parsed.takeError();
    lists.insert(lists.end(), parsed->begin(), parsed->end());
  }
  return lists;
}

/// An op over rows has tensors of each width.
std::vector<bench::TensorList> rowsOf(const BenchFlags &flags, const ResolvedRequest &request,
                                      bool onGpu) {
  static const std::vector<int64_t> usual = {256, 1000, 1024, 4096, 4097, 16384};
  const int64_t elements = flags.elements ? flags.elements : int64_t(1) << (onGpu ? 27 : 22);
  std::vector<bench::TensorList> lists;
  for (int64_t width : flags.widths.empty() ? usual : flags.widths)
    lists.push_back(bench::listOfRows(request, width, elements));
  return lists;
}

/// Flags that no op reads.
Result<void> checkLists(const BenchFlags &flags, const std::vector<ResolvedRequest> &requests) {
  const auto rows = std::ranges::count_if(requests, host::isOverAxes);
  if (!flags.widths.empty() && rows == 0)
    return Error{Code::USAGE, "--widths: expected an op over rows, got none",
                 "name lists of tensors: --tensors"};
  if (!flags.tensors.empty() && !requests.empty() && size_t(rows) == requests.size())
    return Error{Code::USAGE, "--tensors: expected an op over elements, got ops over rows alone",
                 "name widths of rows: --widths 1024,4096"};
  return {};
}

/// Every request on every list.
Result<std::vector<bench::Job>> jobsOf(const BenchFlags &flags, const bench::Bench &bench,
                                       bool onGpu) {
  Result<std::vector<Request>> requests = allRequests(flags);
  if (!requests)
    return requests.takeError();
  auto lists = listsOf(flags, onGpu);
  if (!lists)
    return lists.takeError();
  std::vector<ResolvedRequest> all;
  for (Request &request : *requests) {
    request.target = bench.target();
    auto resolved = resolve(request);
    if (!resolved)
      return resolved.takeError();
    all.push_back(std::move(*resolved));
  }
  if (Result<void> read = checkLists(flags, all); !read)
    return read.takeError();
  std::vector<bench::Job> jobs;
  for (const ResolvedRequest &request : all)
    for (const auto &list : host::isOverAxes(request) ? rowsOf(flags, request, onGpu) : *lists)
      jobs.push_back({request, list});
  return jobs;
}

Json toJson(const bench::Row &row) {
  const std::string &yardstick = row.figures.yardstick;
  Json json = {{"id", row.id},
               {"case", row.op + ", " + row.dtypes + ", " + row.list},
               {"op", row.op},
               {"dtypes", row.dtypes},
               {"list", row.list},
               {"tensors", row.tensors},
               {"elements", row.elements},
               {"bytes", row.bytes},
               {"launches", row.launches},
               {"us", row.figures.us},
               {"gb_per_s", row.gigabytesPerSecond()},
               {"percent_of_" + yardstick, row.percentOfYardstick()},
               {"host_us", row.figures.hostUs}};
  if (row.width)
    json["width"] = row.width;
  if (row.id.empty() || yardstick == "stream") // the figures to reach are those of GPUs
    json.erase("id");
  else if (const bench::Target *target = bench::findTarget(row.id, row.list))
    json.update({{"floor", target->floor}, {"goal", target->goal}});
  if (!row.figures.yardstickText.empty())
    json["fastest_read"] = row.figures.yardstickText;
  if (row.figures.largeRate)
    json["percent_of_copy_4gib"] = row.percentOfLarge();
  if (row.figures.graphUs)
    json.update({{"graph_us", *row.figures.graphUs}, {"idle_us", *row.figures.idleUs}});
  if (row.registers >= 0)
    json.update({{"registers", row.registers}, {"schedule", row.schedule}});
  return json;
}

Json toJson(const std::vector<bench::Row> &rows, const bench::Machine &machine) {
  Json list = Json::array();
  for (const bench::Row &row : rows)
    list.push_back(toJson(row));
  return {
      {"versions", {{"fusewright", jit::compilerBuildId()}, {"machine", machine.description()}}},
      {"rows", list}};
}

std::string optionalText(const std::optional<double> &value, int decimals) {
  return value ? decimal(*value, decimals) : "-";
}

void printTable(const std::vector<bench::Row> &rows, const bench::Machine &machine) {
  const std::string usual = machine.yardstick();
  Table table({"op", "dtypes", "list", ">tensors", ">elements", ">MB", ">us", ">GB/s",
               ">% " + usual, ">% read", ">% 4 GiB", ">graph us", ">idle us", ">host us",
               ">launches"});
  auto percent = [](const bench::Row &row, const std::string &yardstick) {
    return row.figures.yardstick == yardstick ? decimal(row.percentOfYardstick(), 1) : "-";
  };
  for (const bench::Row &row : rows)
    table.add({row.op, row.dtypes, row.list, std::to_string(row.tensors),
               std::to_string(row.elements), decimal(double(row.bytes) * 1e-6, 1),
               decimal(row.figures.us, 1), decimal(row.gigabytesPerSecond(), 0),
               percent(row, usual), percent(row, "read"),
               row.figures.largeRate ? decimal(row.percentOfLarge(), 1) : "-",
               optionalText(row.figures.graphUs, 1), optionalText(row.figures.idleUs, 1),
               decimal(row.figures.hostUs, 1), std::to_string(row.launches)});
  table.print(std::cout);
  std::cout << "\non " << machine.description()
            << "; medians. MB: every operand once per read and once per write, in each pass that "
               "does; of rows, what must move.\n";
  if (machine.yardstick() == "copy")
    std::cout
        << "us: time on the device; % copy: of a copy on the device of the same bytes, at most "
           "8 GiB, and of one\nof 4 GiB, in this process; % read: of the fastest bare kernel that "
           "reads the same bytes, for what writes none.\ngraph us: replay of a captured graph; "
           "idle "
           "us: from an idle device, so with the launch; host us: of the call.\n";
  else
    std::cout << "us, host us: of a run, which ends with the call; % stream: of a bare pass over "
                 "the same "
                 "reads and writes on\nall cores. What is - is measured on GPUs alone.\n";
}

Result<void> writePlot(const std::string &path, const std::vector<bench::Row> &rows,
                       const bench::Machine &machine) {
  std::vector<bench::Bar> bars;
  for (const bench::Row &row : rows) {
    bench::Bar bar{row.op + ", " + row.dtypes + ", " + row.list, row.percentOfYardstick(), {}, {}};
    const bench::Target *target = bench::findTarget(row.id, row.list);
    if (target && row.figures.yardstick != "stream")
      bar.floor = target->floor, bar.goal = target->goal;
    bars.push_back(std::move(bar));
  }
  std::ofstream file(path);
  const bool reads = std::ranges::any_of(
      rows, [](const bench::Row &row) { return row.figures.yardstick == "read"; });
  file << bench::barChart("% of a " + machine.yardstick() +
                              (reads ? " (of a read, for what writes nothing)" : "") +
                              " of the same bytes, " + machine.description(),
                          bars);
  if (!file.flush())
    return Error{Code::USAGE, "--plot: expected a file that can be written, got '" + path + "'",
                 "name a file in a folder of this user"};
  return {};
}

Result<std::vector<bench::Row>> measureAll(bench::Bench &bench, const std::vector<bench::Job> &jobs,
                                           int rounds) {
  if (Result<void> ready = bench.prepare(jobs); !ready)
    return ready.takeError();
  std::vector<bench::Row> rows;
  Progress progress("measuring", jobs.size());
  for (const bench::Job &job : jobs) {
    Result<bench::Row> row = bench.measure(job, rounds);
    if (!row)
      return row.takeError();
    rows.push_back(std::move(*row));
    progress.step(rows.back().op + ", " + rows.back().list);
  }
  return rows;
}

Result<void> save(const std::string &path, const Json &json) {
  std::ofstream file(path);
  file << json.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
  if (!file.flush())
    return Error{Code::USAGE, "--save: expected a file that can be written, got '" + path + "'",
                 "name a file in a folder of this user"};
  return {};
}

/// The GPU is only the default: there is another device.
Error withCpu(Error error) {
  if (error.code == Code::DEVICE)
    error.remedy +=
        (error.remedy.empty() ? "" : ", or ") + std::string("time the CPU: --device cpu");
  return error;
}

Result<int> benchOps(const Session &session, const BenchFlags &flags) {
  Result<host::Device> device = host::parseDevice(flags.device);
  if (!device)
    return device.takeError();
  Result<bench::Bench> bench = bench::Bench::create(*device);
  if (!bench)
    return withCpu(bench.takeError());
  Result<std::vector<bench::Job>> jobs = jobsOf(flags, *bench, device->isCuda());
  if (!jobs)
    return jobs.takeError();
  auto rows = measureAll(*bench, *jobs, flags.rounds);
  if (!rows)
    return rows.takeError();
  const Json json = toJson(*rows, bench->machine());
  if (!flags.save.empty())
    if (Result<void> saved = save(flags.save, json); !saved)
      return saved.takeError();
  if (session.json)
    printJson(json);
  else
    printTable(*rows, bench->machine());
  if (!flags.plot.empty())
    if (Result<void> written = writePlot(flags.plot, *rows, bench->machine()); !written)
      return written.takeError();
  return 0;
}

} // namespace

void addBenchCommand(CLI::App &app, Session &session) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App *command =
      app.add_subcommand("bench", "Time ops on lists of tensors, beside a copy of the same bytes");
  command->add_option(
      "OP", flags->ops,
      "Shipped names, files, or file:name; none: the shipped optimizers, norms and casts");
  command
      ->add_option("--tensors", flags->tensors,
                   "Models (llama-1.1b,bert-large,resnet-50) or the numbers of elements of a list "
                   "(4096,1000x64); may be given again; default: bert-large, on the CPU resnet-50")
      ->type_name("LIST");
  command
      ->add_option("--widths", flags->widths,
                   "Elements of a row, for ops over rows; default: 256,1000,1024,4096,4097,16384")
      ->delimiter(',')
      ->check(numberUpTo(uint64_t(1) << 30, 1))
      ->type_name("N,N");
  command
      ->add_option("--elements", flags->elements,
                   "About so many elements in all rows; default: 2^27, on the CPU 2^22")
      ->check(numberUpTo(uint64_t(1) << 40, 1))
      ->type_name("N");
  command
      ->add_option("--id", flags->ids,
                   "Of the shipped ops what is held against these figures, as P4,P7")
      ->delimiter(',')
      ->type_name("ID");
  command->add_option("--device", flags->device, "cpu, cuda or cuda:N")
      ->capture_default_str()
      ->type_name("DEVICE");
  command->add_option("--rounds", flags->rounds, "Measurements that a median is taken of")
      ->check(numberUpTo(10000, 1))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--plot", flags->plot, "Write a bar chart too")->type_name("FILE.svg");
  command->add_option("--save", flags->save, "Write the rows as JSON too")->type_name("FILE.json");
  addRequestFlags(*command, flags->request);
  addJsonFlag(*command, session);
  command->footer("A step of several passes (--feature unscale,clip,guard) counts each. A model's "
                  "tensors of one dimension are a group without weight decay, where the "
                  "op has one.");
  command->callback([&session, flags] {
    session.action = [&session, flags] { return benchOps(session, *flags); };
  });
}

} // namespace fw::cli
