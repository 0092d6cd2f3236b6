#include "files.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <stan/io/empty_var_context.hpp>
#include <stan/io/json/json_data.hpp>

namespace driver {
namespace {

std::string numbered(const std::string& path, int id) {
  const std::size_t dot = path.rfind('.');
  const std::size_t slash = path.rfind('/');
  const std::string number = "_" + std::to_string(id);
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash))
    return path + number;
  return path.substr(0, dot) + number + path.substr(dot);
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream rest(line);
  for (std::string cell; std::getline(rest, cell, ',');)
    cells.push_back(cell);
  return cells;
}

}  // namespace

csv_files::csv_files(const std::string& path, int count, int first_id, int digits) {
  for (int i = 0; i < count; ++i) {
    if (path.empty()) {
      writers.emplace_back(nullptr);
      continue;
    }
    paths_.push_back(count == 1 ? path : numbered(path, first_id + i));
    auto stream = std::make_unique<std::ofstream>(paths_.back());
    if (!*stream)
      throw file_error("cannot open " + paths_.back() + " for writing");
    *stream << std::setprecision(digits);
    stream->exceptions(std::ios::badbit);  // a full disk ends the run at once, not after hours
    streams_.push_back(stream.get());
    writers.emplace_back(std::move(stream), "# ");
  }
}

void csv_files::write_comments(const std::string& lines) {
  std::stringstream rest(lines);
  for (std::string line; std::getline(rest, line);)
    for (csv_writer& writer : writers)
      writer(line);
}

void csv_files::check() const {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    streams_[i]->exceptions(std::ios::goodbit);
    streams_[i]->flush();
    if (!*streams_[i])
      throw file_error("cannot write to " + paths_[i] + ": is the disk full?");
  }
}

context no_variables() { return std::make_shared<stan::io::empty_var_context>(); }

context read_json(const std::string& path) {
  std::ifstream stream(path);
  if (!stream)
    throw file_error("cannot read " + path);
  try {
    return std::make_shared<stan::json::json_data>(stream);
  } catch (const std::exception& error) {
    throw file_error(path + " is not JSON data: " + error.what());
  }
}

std::vector<context> read_json_for_each(const std::string& path, int count, int first_id) {
  std::vector<context> found;
  for (int i = 0; i < count; ++i) {
    const std::string own = numbered(path, first_id + i);
    found.push_back(read_json(std::ifstream(own) ? own : path));
  }
  return found;
}

Eigen::MatrixXd read_columns(const std::string& path, const std::vector<std::string>& names) {
  std::ifstream stream(path);
  if (!stream)
    throw file_error("cannot read " + path);
  std::vector<std::size_t> places;
  std::vector<double> values;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    const std::vector<std::string> cells = split(line);
    if (places.empty()) {
      for (const std::string& name : names) {
        auto place = std::find(cells.begin(), cells.end(), name);
        if (place == cells.end())
          throw file_error(path + " has no column '" + name + "': was it made by this model?");
        places.push_back(place - cells.begin());
      }
      continue;
    }
    for (std::size_t place : places)
      values.push_back(std::stod(cells.at(place)));
  }
  if (names.empty() || values.empty())
    throw file_error(path + " has no draws");
  using rows = Eigen::Matrix<double, -1, -1, Eigen::RowMajor>;
  return Eigen::Map<rows>(values.data(), values.size() / names.size(), names.size());
}

}  // namespace driver
