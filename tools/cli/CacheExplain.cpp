// fusewright cache explain: what a program's key is made of, and why a request hits or misses.
#include "tools/cli/CacheEntries.h"
#include "tools/cli/LineDiff.h"

#include <algorithm>
#include <iostream>

namespace fw::cli {

namespace {

struct ExplainFlags {
  std::vector<std::string> names; ///< one or two, each an OP or the beginning of a KEY
  std::string arch = "cpu";
  RequestFlags request;
};

/// A program, asked for or stored.
struct Explained {
  std::string name; ///< as the user wrote it
  std::string key;
  std::vector<std::string> facts;
  std::optional<Standing> standing; ///< of a request
};

/// As many digits as tell entries apart; `cache ls` shows sixteen.
constexpr size_t kLeastDigits = 8;

bool mayBeKey(const std::string &name) {
  return name.size() >= kLeastDigits &&
         name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The one entry whose key begins with `digits`.
Result<jit::CacheListing> findEntry(jit::Cache &cache, const std::string &digits) {
  std::vector<jit::CacheListing> found = cache.list();
  std::erase_if(found,
                [&](const jit::CacheListing &entry) { return !entry.key.starts_with(digits); });
  if (found.size() == 1)
    return found.front();
  return Error{Code::CACHE,
               "expected one entry whose key begins with '" + digits + "', got " +
                   (found.empty() ? "none" : std::to_string(found.size())),
               found.empty() ? "`fusewright cache ls` lists the keys" : "name more of its digits"};
}

/// Where the kernels of a stored program are.
Standing standingOf(jit::Cache &cache, const jit::CacheListing &entry) {
  Standing standing{.key = entry.key, .isIndexed = true};
  std::optional<jit::ProgramRecord> record = programOf(cache, entry.key);
  if (!record)
    return standing;
  for (const jit::KernelRecord &kernel : record->kernels) {
    bool stored = cache.peek(jit::EntryKind::Kernel, kernel.key) ||
                  cache.peek(jit::EntryKind::Object, kernel.key);
    standing.kernels.push_back({kernel.launch.symbol, kernel.key, stored});
  }
  return standing;
}

Result<Explained> explainedOf(Compiler &compiler, const std::string &name,
                              const ExplainFlags &flags) {
  if (mayBeKey(name)) {
    Result<jit::CacheListing> entry = findEntry(compiler.cache(), name);
    if (!entry)
      return entry.takeError();
    if (entry->kind != jit::EntryKind::Program)
      return Error{
          Code::CACHE,
          "expected the key of a program, got that of " +
              std::string(entry->kind == jit::EntryKind::Kernel ? "a kernel" : "an object"),
          "explain it alone: what is compiled is not the request, but its text"};
    return Explained{name, entry->key, factsOf(compiler.cache(), entry->key),
                     standingOf(compiler.cache(), *entry)};
  }
  Result<language::OpHandle> op = findOp(name);
  if (!op)
    return op.takeError();
  Result<Request> request = makeRequest(*op, flags.request, flags.arch);
  if (!request)
    return request.takeError();
  Result<Standing> standing = compiler.standing(*request);
  if (!standing)
    return standing.takeError();
  return Explained{name, standing->key, linesOf(standing->facts), std::move(*standing)};
}

/// The stored program of the same op whose facts differ least.
std::optional<Explained> nearest(jit::Cache &cache, const Explained &asked) {
  auto isOp = [](const std::string &line) { return line.starts_with("op "); };
  auto op = std::ranges::find_if(asked.facts, isOp);
  std::optional<Explained> best;
  size_t least = SIZE_MAX;
  for (const jit::CacheListing &entry : cache.list()) {
    if (entry.kind != jit::EntryKind::Program || entry.key == asked.key)
      continue;
    std::vector<std::string> facts = factsOf(cache, entry.key);
    if (op == asked.facts.end() || std::ranges::find(facts, *op) == facts.end())
      continue;
    if (size_t lines = diffLines(facts, asked.facts).count(); lines < least) {
      least = lines;
      best = Explained{entry.key, entry.key, std::move(facts), std::nullopt};
    }
  }
  return best;
}

bool isHit(const Standing &standing) {
  return standing.isIndexed && std::ranges::all_of(standing.kernels, &Standing::Kernel::isStored);
}

/// What the next compile of the request does.
std::string verdict(const Standing &standing) {
  if (isHit(standing))
    return "hit: nothing is compiled";
  if (standing.unknown)
    return "miss: the program is not in the cache; its kernels are not known (" +
           render(*standing.unknown) + ")";
  bool all = std::ranges::all_of(standing.kernels, &Standing::Kernel::isStored);
  if (standing.isIndexed)
    return "miss: the program is in the cache, but not all of its kernels";
  return all ? "miss: the program is not in the cache, but its kernels are; they need no compile"
             : "miss: neither the program nor all of its kernels are in the cache";
}

void printProgram(const Explained &subject) {
  std::cout << "key     " << subject.key << "\n";
  if (subject.standing) {
    std::cout << "cache   " << verdict(*subject.standing) << "\n";
    for (const Standing::Kernel &kernel : subject.standing->kernels)
      std::cout << "kernel  " << kernel.key << (kernel.isStored ? "  stored   " : "  missing  ")
                << kernel.symbol << "\n";
  }
  std::cout << "\n";
  for (const std::string &fact : subject.facts)
    std::cout << fact << "\n";
  if (subject.facts.empty())
    std::cout << "(an older fusewright wrote it, without what its key was made of)\n";
}

void printDifference(const LineDiff &diff, const std::string &first, const std::string &second) {
  std::cout << "\n"
            << countText(diff.count(), "line differs", "lines differ") << " (- " << first << ", + "
            << second << ")\n";
  for (const std::string &line : diff.onlyFirst)
    std::cout << "- " << line << "\n";
  for (const std::string &line : diff.onlySecond)
    std::cout << "+ " << line << "\n";
}

Json kernelsJson(const std::vector<Standing::Kernel> &kernels) {
  Json list = Json::array();
  for (const Standing::Kernel &kernel : kernels)
    list.push_back({{"symbol", kernel.symbol}, {"key", kernel.key}, {"stored", kernel.isStored}});
  return list;
}

Json toJson(const Explained &subject) {
  Json out = {{"name", subject.name}, {"key", subject.key}};
  if (subject.standing) {
    out["hit"] = isHit(*subject.standing);
    out["program_stored"] = subject.standing->isIndexed;
    out["kernels"] = kernelsJson(subject.standing->kernels);
    out["verdict"] = verdict(*subject.standing);
  }
  out["facts"] = subject.facts;
  return out;
}

Json toJson(const LineDiff &diff) {
  return {{"only_first", diff.onlyFirst}, {"only_second", diff.onlySecond}};
}

/// One program, and where it is no hit the stored one that is most like it.
void explainOne(const Session &session, jit::Cache &cache, const Explained &subject) {
  std::optional<Explained> like;
  if (subject.standing && !subject.standing->isIndexed)
    like = nearest(cache, subject);
  LineDiff diff = like ? diffLines(like->facts, subject.facts) : LineDiff();
  if (session.json) {
    Json out = toJson(subject);
    out["nearest"] = like ? Json{{"key", like->key}, {"difference", toJson(diff)}} : Json(nullptr);
    printJson(out);
    return;
  }
  printProgram(subject);
  if (like)
    printDifference(diff, "nearest stored program " + like->key, "asked for");
}

void explainTwo(const Session &session, const Explained &first, const Explained &second) {
  LineDiff diff = diffLines(first.facts, second.facts);
  if (session.json) {
    printJson({{"first", toJson(first)}, {"second", toJson(second)}, {"difference", toJson(diff)}});
    return;
  }
  std::cout << "- " << first.name << "  " << first.key << "\n+ " << second.name << "  "
            << second.key << "\n";
  printDifference(diff, first.name, second.name);
}

Result<int> explain(const Session &session, const ExplainFlags &flags) {
  Compiler compiler(session.compilerOptions());
  jit::Cache &cache = compiler.cache();
  if (auto folder = usableFolder(cache); !folder)
    return folder.takeError();
  if (flags.names.size() == 1 && mayBeKey(flags.names[0]))
    if (auto entry = findEntry(cache, flags.names[0]);
        entry && entry->kind != jit::EntryKind::Program)
      return explainCode(session, cache, *entry);
  std::vector<Explained> subjects;
  for (const std::string &name : flags.names) {
    Result<Explained> subject = explainedOf(compiler, name, flags);
    if (!subject)
      return subject.takeError();
    subjects.push_back(std::move(*subject));
  }
  if (subjects.size() == 1)
    explainOne(session, cache, subjects[0]);
  else
    explainTwo(session, subjects[0], subjects[1]);
  return 0;
}

} // namespace

void addExplainCommand(CLI::App &cache, Session &session) {
  auto flags = std::make_shared<ExplainFlags>();
  CLI::App *command = cache.add_subcommand(
      "explain", "Say what a program's key is made of and why a request misses; compare two");
  command
      ->add_option("REQUEST", flags->names,
                   "An OP with the flags below, or a KEY of `cache ls` (its first digits do)")
      ->required()
      ->expected(1, 2)
      ->type_name("OP|KEY");
  command->add_option("--arch", flags->arch, "Target of an OP: sm_90, compute_90 or cpu")
      ->capture_default_str()
      ->type_name("ARCH");
  addRequestFlags(*command, flags->request);
  addJsonFlag(*command, session);
  command->footer("A request that misses is compared with the stored program of the same op that "
                  "is most like it.\nNothing is compiled, and nothing counts as used.");
  command->callback([&session, flags] {
    session.action = [&session, flags] { return explain(session, *flags); };
  });
}

} // namespace fw::cli
