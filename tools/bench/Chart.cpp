#include "tools/bench/Chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace fw::bench {

namespace {

constexpr double barHeight = 16, rowHeight = 24, top = 64, legendHeight = 56, plotWidth = 480,
                 charWidth = 7.4, valueWidth = 64;

/// Of a bar that has a mark: how far it came. Told apart in grey too.
struct Standing {
  const char *color, *meaning;
};
constexpr Standing reached{"#1b7837", "goal reached"}, between{"#dfa82b", "between floor and goal"},
    below{"#b2182b", "below the floor"}, unmarked{"#4477aa", "no figure to reach"};

const Standing &standing(const Bar &bar) {
  if (!bar.floor || !bar.goal)
    return unmarked;
  return bar.percent >= *bar.goal ? reached : bar.percent >= *bar.floor ? between : below;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

/// Where things stand on the page.
struct Page {
  double left, most; ///< most: percent at the right end

  double x(double percent) const { return left + plotWidth * percent / most; }
};

std::string rectangle(double x, double y, double width, double height, const char *color) {
  return "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) +
         "\" height=\"" + number(height) + "\" fill=\"" + color + "\"/>\n";
}

std::string line(double x, double y1, double y2, const char *style) {
  return "<line x1=\"" + number(x) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x) + "\" y2=\"" +
         number(y2) + "\" " + style + "/>\n";
}

std::string label(double x, double y, const char *anchor, const std::string &text) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" +
         escaped(text) + "</text>\n";
}

constexpr const char *gridStyle = "stroke=\"#cccccc\"", *hundredStyle = "stroke=\"#777777\"",
                     *floorStyle = "stroke=\"#000000\" stroke-width=\"2\" stroke-dasharray=\"3 2\"",
                     *goalStyle = "stroke=\"#000000\" stroke-width=\"2\"";

std::string axis(const Page &page, double bottom) {
  std::string out;
  for (double tick = 0; tick <= page.most; tick += 20)
    out += line(page.x(tick), top - 4, bottom, tick == 100 ? hundredStyle : gridStyle) +
           label(page.x(tick), top - 10, "middle", std::to_string(int(tick)) + " %");
  return out;
}

std::string drawBar(const Page &page, const Bar &bar, double y) {
  const double middle = y + barHeight - 4;
  std::string out =
      label(page.left - 8, middle, "end", bar.label) +
      rectangle(page.left, y, page.x(bar.percent) - page.left, barHeight, standing(bar).color);
  if (bar.floor)
    out += line(page.x(*bar.floor), y - 2, y + barHeight + 2, floorStyle);
  if (bar.goal)
    out += line(page.x(*bar.goal), y - 2, y + barHeight + 2, goalStyle);
  return out + label(page.left + plotWidth + 8, middle, "start", number(bar.percent) + " %");
}

std::string legend(const Page &page, double y) {
  std::string out;
  double x = 16;
  for (const Standing *one : {&reached, &between, &below, &unmarked}) {
    out += rectangle(x, y, 12, 12, one->color) + label(x + 18, y + 10, "start", one->meaning);
    x += 18 + charWidth * std::string_view(one->meaning).size() + 20;
  }
  y += 22;
  out += line(22, y, y + 12, floorStyle) + label(34, y + 10, "start", "floor");
  return out + line(96, y, y + 12, goalStyle) + label(108, y + 10, "start", "goal");
}

} // namespace

std::string barChart(const std::string &title, const std::vector<Bar> &bars) {
  size_t longest = 0;
  double most = 110;
  for (const Bar &bar : bars) {
    longest = std::max(longest, bar.label.size());
    most = std::max(most, std::ceil(bar.percent / 10) * 10);
  }
  const Page page{24 + charWidth * double(longest), most};
  const double bottom = top + rowHeight * double(bars.size());
  const double width = std::max(page.left + plotWidth + valueWidth + 16, 640.0),
               height = bottom + legendHeight + 8;
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) +
                    "\" height=\"" + number(height) + "\" font-family=\"sans-serif\" " +
                    "font-size=\"12\">\n" + rectangle(0, 0, width, height, "#ffffff") +
                    "<g font-size=\"15\">" + label(16, 26, "start", title) + "</g>\n" +
                    axis(page, bottom);
  for (size_t i = 0; i < bars.size(); ++i)
    out += drawBar(page, bars[i], top + rowHeight * double(i));
  return out + legend(page, bottom + 12) + "</svg>\n";
}

} // namespace fw::bench
