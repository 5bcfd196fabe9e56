#include "tools/job_resources.h"

#include <algorithm>
#include <charconv>

#include "engine/node/toolkit.h"
#include "tools/job_parts.h"
#include "tools/machine_code.h"
#include "tools/report.h"

namespace assay::tools {
namespace {

using job::JobRecord;
using mcp::CallContext;
using mcp::ResourceContents;

constexpr const char* kReport = "report";
// Made when they are read, of the cubin.
constexpr const char* kSass = "sass";
constexpr const char* kMachineCode = "machine_code";
constexpr std::size_t kMostLines = 500;
constexpr std::string_view kScheme = "assay://jobs/";
constexpr std::size_t kListedJobs = 20;
constexpr std::size_t kSuggestedJobs = 100;

// Where in its text a resource begins and ends.
struct Range {
  std::size_t offset = 0;
  std::size_t length = std::string::npos;
};

struct Address {
  std::string job_id{};
  std::string part{};  // empty: the job itself
  Range range{};
};

std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || fault != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// "offset=10&length=20", each at most once. Throws BadRange.
Range range_of(std::string_view query) {
  std::optional<std::size_t> offset;
  std::optional<std::size_t> length;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string name(pair.substr(0, equals));
    if (name != "offset" && name != "length")
      throw BadRange(name, "'" + name + "' is unknown here; a range has offset and length");
    std::optional<std::size_t>& value = name == "offset" ? offset : length;
    if (value) throw BadRange(name, name + " is given twice");
    value = number(pair.substr(std::min(equals + 1, pair.size())));
    if (!value) throw BadRange(name, name + " must be a whole number of bytes from 0 to 2^64 - 1");
  }
  return {.offset = offset.value_or(0), .length = length.value_or(std::string::npos)};
}

std::optional<Address> address_of(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return {};
  uri.remove_prefix(kScheme.size());
  const std::size_t mark = std::min(uri.find('?'), uri.size());
  const Range range = range_of(uri.substr(std::min(mark + 1, uri.size())));
  const std::string_view path = uri.substr(0, mark);
  const std::size_t slash = std::min(path.find('/'), path.size());
  return Address{.job_id = std::string(path.substr(0, slash)),
                 .part = std::string(path.substr(std::min(slash + 1, path.size()))),
                 .range = range};
}

// The part that was asked for. Of a text, whole characters only: a cut one is left to its
// neighbour's part.
std::string cut(const std::string& bytes, Range range, bool is_text) {
  const auto boundary = [&](std::size_t at) {
    while (is_text && at < bytes.size() && (static_cast<unsigned char>(bytes[at]) & 0xC0U) == 0x80U)
      ++at;
    return at;
  };
  const std::size_t begin = boundary(std::min(range.offset, bytes.size()));
  const std::size_t length =
      std::min(range.length, bytes.size() - std::min(range.offset, bytes.size()));
  const std::size_t end = boundary(std::min(range.offset, bytes.size()) + length);
  return bytes.substr(begin, end - begin);
}

bool is_text(const std::string& media_type) {
  return media_type.starts_with("text/") || media_type == "application/json" ||
         media_type == "image/svg+xml";
}

const job::ArtifactLink* last_artifact(const JobRecord& record, std::string_view name) {
  // A name may occur in several stages; the last one is what the report speaks of.
  const auto found =
      std::find_if(record.artifacts.rbegin(), record.artifacts.rend(),
                   [name](const job::ArtifactLink& link) { return link.name == name; });
  return found == record.artifacts.rend() ? nullptr : &*found;
}

bool has_sass(const Jobs& jobs, const JobRecord& record) {
  return jobs.has_disassembler() && last_artifact(record, "cubin") != nullptr;
}

// A job that is there and has no machine code is another thing than no such job.
ResourceContents disassembled(Jobs& jobs, const JobRecord& record, const std::string& part,
                              const CallContext& context) {
  const auto aside = context.step_aside ? context.step_aside() : nullptr;
  if (context.step_aside && !aside)
    throw mcp::BadRequest("too many calls wait already for what takes long; ask again in a moment");
  auto code = machine_code_of(jobs, record, context.stop);
  if (!code.text) throw mcp::BadRequest("unsupported: " + code.missing);
  if (part == kSass) return {.mime_type = "text/plain", .bytes = std::move(*code.text)};
  return {.mime_type = "application/json",
          .bytes = machine_code_summary(*code.text, kMostLines).dump(1)};
}

std::optional<ResourceContents> read(Jobs& jobs, const std::string& uri,
                                     const CallContext& context) {
  const auto address = address_of(uri);
  if (!address) return {};
  const auto record = jobs.find(address->job_id, context.principal);
  if (!record) return {};
  if (address->part.empty() || address->part == kReport)
    return ResourceContents{
        .mime_type = "application/json",
        .bytes = cut(report(*record, Detail::full)
                         .dump(1, ' ', false, mcp::OrderedJson::error_handler_t::replace),
                     address->range, true)};
  if (auto part = job_part(*record, address->part)) {
    part->bytes = cut(part->bytes, address->range, true);
    return part;
  }
  if (const auto* link = last_artifact(*record, address->part)) {
    const auto bytes = jobs.artifact(*link);
    if (!bytes) return {};
    const bool text = is_text(link->media_type);
    return ResourceContents{
        .mime_type = link->media_type, .bytes = cut(*bytes, address->range, text), .binary = !text};
  }
  if (address->part != kSass && address->part != kMachineCode) return {};
  ResourceContents code = disassembled(jobs, *record, address->part, context);
  code.bytes = cut(code.bytes, address->range, true);
  return code;
}

// With their artifacts, which the journal's list leaves out.
std::vector<JobRecord> recent_jobs(Jobs& jobs, std::size_t count, const CallContext& context) {
  std::vector<JobRecord> whole;
  for (const JobRecord& record : jobs.recent(context.principal, count))
    if (auto found = jobs.find(record.id, context.principal)) whole.push_back(std::move(*found));
  return whole;
}

void list_job(const Jobs& jobs, const JobRecord& record, std::vector<mcp::Resource>& into) {
  const std::string verdict = record.verdict ? std::string(job::name(*record.verdict))
                                             : std::string(job::name(record.state));
  into.push_back({.uri = job_uri(record.id),
                  .name = "report",
                  .title = "Report of job " + record.id.substr(0, 8) + ": " + verdict,
                  .description = record.conclusion.value("summary", std::string()),
                  .mime_type = "application/json"});
  for (const std::string& part : job_parts(record))
    into.push_back({.uri = artifact_uri(record.id, part),
                    .name = part,
                    .title = part + " of job " + record.id.substr(0, 8),
                    .mime_type = media_type_of_part(part)});
  for (const auto& link : record.artifacts)
    into.push_back({.uri = artifact_uri(record.id, link.name),
                    .name = link.name,
                    .title = link.name + " of job " + record.id.substr(0, 8),
                    .mime_type = link.media_type,
                    .size_bytes = static_cast<std::int64_t>(link.bytes)});
  if (!has_sass(jobs, record)) return;
  into.push_back({.uri = artifact_uri(record.id, kSass),
                  .name = kSass,
                  .title = "machine code of job " + record.id.substr(0, 8),
                  .mime_type = "text/plain"});
  into.push_back({.uri = artifact_uri(record.id, kMachineCode),
                  .name = kMachineCode,
                  .title = "Counts in the machine code of job " + record.id.substr(0, 8),
                  .mime_type = "application/json"});
}

// Whose parts are asked for: the job that is already named, or all that may be meant.
std::vector<JobRecord> jobs_meant(Jobs& jobs, const mcp::Json& given, const CallContext& context) {
  const auto named = given.find("job_id");
  if (named == given.end() || !named->is_string()) return recent_jobs(jobs, kListedJobs, context);
  if (auto record = jobs.find(named->get<std::string>(), context.principal)) return {*record};
  return {};
}

std::vector<std::string> suggest(Jobs& jobs, const std::string& variable, const std::string& prefix,
                                 const mcp::Json& given, const CallContext& context) {
  std::vector<std::string> values;
  const auto offer = [&](const std::string& value) {
    if (value.starts_with(prefix) && std::find(values.begin(), values.end(), value) == values.end())
      values.push_back(value);
  };
  if (variable == "job_id")
    for (const JobRecord& record : jobs.recent(context.principal, kSuggestedJobs)) offer(record.id);
  if (variable == "artifact")
    for (const JobRecord& record : jobs_meant(jobs, given, context)) {
      offer(kReport);
      for (const std::string& part : job_parts(record)) offer(part);
      for (const auto& link : record.artifacts) offer(link.name);
      if (!has_sass(jobs, record)) continue;
      offer(kSass);
      offer(kMachineCode);
    }
  return values;
}

}  // namespace

Jobs::MachineCode machine_code_of(Jobs& jobs, const JobRecord& record,
                                  const std::stop_token& stop) {
  const auto* link = last_artifact(record, "cubin");
  if (link == nullptr)
    return {.missing =
                "this job kept no machine code. compile_kernel does, for an arch like sm_90 (not "
                "for compute_90): call it with kernel {\"job_id\": \"" +
                record.id + "\"}, and read the sass of that job"};
  if (!jobs.has_disassembler())
    return {.missing =
                std::string("there is no disassembler (nvdisasm, cuobjdump) on this machine. "
                            "Install it with: ") +
                node::kInstallDisassembler};
  const auto cubin = jobs.artifact(*link);
  if (!cubin) return {.missing = "this job's machine code is no longer kept"};
  auto code = jobs.disassemble(*cubin, stop);
  if (!code.text) code.missing = "no machine code as text: " + code.missing;
  return code;
}

std::string job_uri(const std::string& job_id) { return std::string(kScheme) + job_id; }

std::string artifact_uri(const std::string& job_id, const std::string& artifact) {
  return job_uri(job_id) + '/' + artifact;
}

mcp::Resources job_resources(Jobs& jobs) {
  const auto complete = [&jobs](const std::string& variable, const std::string& prefix,
                                const mcp::Json& given, const CallContext& context) {
    return suggest(jobs, variable, prefix, given, context);
  };
  return {.list =
              [&jobs](const CallContext& context) {
                std::vector<mcp::Resource> resources;
                for (const JobRecord& record : recent_jobs(jobs, kListedJobs, context))
                  list_job(jobs, record, resources);
                return resources;
              },
          .templates = {{.uri_template = "assay://jobs/{job_id}",
                         .name = "job",
                         .title = "A job's report",
                         .description = "Every stage of a job with its details, partial or final.",
                         .mime_type = "application/json",
                         .complete = complete},
                        {.uri_template = "assay://jobs/{job_id}/{artifact}{?offset,length}",
                         .name = "artifact",
                         .title = "What a job left behind",
                         .description =
                             "report, source, samples, plot.svg, roofline.svg, log, ptx, sass, "
                             "machine_code (counts in it) and whatever else the report's "
                             "`artifacts` name; offset and length in bytes.",
                         .complete = complete}},
          .read = [&jobs](const std::string& uri,
                          const CallContext& context) { return read(jobs, uri, context); }};
}

}  // namespace assay::tools
