// What the driver reads and writes: JSON in, Stan CSV in and out.
#pragma once

#include <Eigen/Dense>
#include <fstream>
#include <memory>
#include <stan/callbacks/unique_stream_writer.hpp>
#include <stan/io/var_context.hpp>
#include <string>
#include <vector>

namespace driver {

using context = std::shared_ptr<const stan::io::var_context>;
using csv_writer = stan::callbacks::unique_stream_writer<std::ofstream>;

// A file that cannot be read or written; its text names the file.
struct file_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Output files of one run: as many as chains, numbered if more than one.
class csv_files {
 public:
  csv_files(const std::string& path, int count, int first_id, int digits);

  std::vector<csv_writer> writers;

  void write_comments(const std::string& lines);
  void check() const;  // throws file_error if anything has not reached its file

 private:
  std::vector<std::string> paths_;
  std::vector<std::ofstream*> streams_;
};

context no_variables();
context read_json(const std::string& path);

// One context a chain: files numbered `name_1.json` where they are, otherwise the file itself.
std::vector<context> read_json_for_each(const std::string& path, int count, int first_id);

// Columns of a Stan CSV file by name, one row a draw.
Eigen::MatrixXd read_columns(const std::string& path, const std::vector<std::string>& names);

}  // namespace driver
