#include "tools/job_links.h"

#include <algorithm>
#include <string>

#include "tools/brief.h"
#include "tools/job_parts.h"
#include "tools/job_resources.h"

namespace assay::tools {
namespace {

using job::ArtifactLink;
using job::JobRecord;
using mcp::ResourceLink;

// The last one of a name is what the report speaks of.
void add_artifact(const JobRecord& record, const char* name, std::uint64_t least_bytes,
                  std::vector<ResourceLink>& links) {
  const auto found = std::find_if(record.artifacts.rbegin(), record.artifacts.rend(),
                                  [name](const ArtifactLink& one) { return one.name == name; });
  if (found == record.artifacts.rend() || found->bytes < least_bytes) return;
  links.push_back({.uri = artifact_uri(record.id, name),
                   .name = name,
                   .mime_type = found->media_type,
                   .size_bytes = static_cast<std::int64_t>(found->bytes)});
}

}  // namespace

std::vector<ResourceLink> links_of(const JobRecord& record, Detail detail) {
  std::vector<ResourceLink> links;
  add_artifact(record, "log", detail == Detail::brief ? kBriefLogBytes : kFullLogBytes, links);
  add_artifact(record, "ptx", 1, links);
  if (detail == Detail::full) return links;
  const auto parts = job_parts(record);
  if (std::find(parts.begin(), parts.end(), "samples") != parts.end())
    links.push_back({.uri = artifact_uri(record.id, "samples"),
                     .name = "samples",
                     .mime_type = media_type_of_part("samples")});
  if (job::is_final(record.state))
    links.push_back({.uri = job_uri(record.id), .name = "report", .mime_type = "application/json"});
  return links;
}

}  // namespace assay::tools
