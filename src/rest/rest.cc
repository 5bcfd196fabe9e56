#include "rest/rest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "engine/journal/unavailable.h"
#include "rest/answers.h"
#include "rest/job_answers.h"
#include "rest/judging.h"
#include "rest/machine.h"
#include "rest/metrics_text.h"
#include "rest/page.h"
#include "tools/health.h"
#include "tools/server_stats.h"

namespace assay::rest {
namespace {

using mcp::OrderedJson;
using mcp::http::HttpRequest;
using mcp::http::Visit;

// What the manual's own clean-up keeps when it is asked for by hand.
constexpr std::chrono::seconds kCleanupAge{300};
constexpr std::string_view kJobPrefix = "/job/";

class Rest {
 public:
  Rest(tools::Jobs& jobs, const tools::Library* library)
      : jobs_(jobs),
        evaluation_(jobs, library, machine_, Judgement::evaluation),
        comparison_(jobs, library, machine_, Judgement::comparison) {}

  [[nodiscard]] static bool serves(const HttpRequest& request) {
    const std::string path = path_of(request);
    return path.starts_with(kJobPrefix) || route_of(path) != nullptr;
  }

  [[nodiscard]] static bool is_public(const HttpRequest& request) {
    const Route* route = route_of(path_of(request));
    const bool reads = request.method == "GET" || request.method == "HEAD";
    return route != nullptr && route->is_public && reads;
  }

  [[nodiscard]] HttpAnswer answer(const Visit& visit) const {
    try {
      return find(visit);
    } catch (const journal::JournalUnavailable& error) {
      return unavailable(error.what());
    }
  }

  [[nodiscard]] static HttpAnswer refusal(int status, const std::string& why) {
    if (status == 404) return not_found(Missing::path, why);
    if (status < 500) return client_error(status, why);
    return json_answer(status, {{"error", why}, {"status", "error"}, {"retryable", true}});
  }

 private:
  using Handler = HttpAnswer (Rest::*)(const Visit&) const;
  struct Route {
    std::string_view path;
    Handler get = nullptr;
    Handler post = nullptr;
    bool is_public = false;
  };

  // "/evaluate/" is "/evaluate".
  [[nodiscard]] static std::string path_of(const HttpRequest& request) {
    std::string path = request.path;
    if (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
  }

  [[nodiscard]] static const Route* route_of(std::string_view path) {
    static constexpr std::array<Route, 11> kRoutes{
        {{"/", &Rest::page, &Rest::compare, true},
         {"/evaluate", nullptr, &Rest::evaluate},
         {"/compare", nullptr, &Rest::compare},
         {"/health", &Rest::health, nullptr, true},
         {"/stats", &Rest::stats},
         {"/metrics", &Rest::metrics},
         {"/jobs", &Rest::jobs},
         {"/admin/cleanup-jobs", nullptr, &Rest::clean_up},
         {"/page.js", &Rest::page, nullptr, true},
         {"/page.css", &Rest::page, nullptr, true},
         {"/icon.svg", &Rest::page, nullptr, true}}};
    const auto* found = std::find_if(kRoutes.begin(), kRoutes.end(),
                                     [path](const Route& route) { return route.path == path; });
    return found == kRoutes.end() ? nullptr : found;
  }

  [[nodiscard]] HttpAnswer find(const Visit& visit) const {
    static constexpr Route kJob{.path = kJobPrefix, .get = &Rest::job};
    const std::string path = path_of(visit.request);
    const Route* named = route_of(path);
    const Route& route = named != nullptr ? *named : kJob;
    const std::string& method = visit.request.method;
    const std::string allowed = std::string(route.get != nullptr ? "GET" : "") +
                                (route.get != nullptr && route.post != nullptr ? ", " : "") +
                                (route.post != nullptr ? "POST" : "");
    if (method == "OPTIONS") return {.status = 204, .fields = {{"Allow", allowed}}};
    const bool reads = method == "GET" || method == "HEAD";
    const Handler handler = reads ? route.get : method == "POST" ? route.post : nullptr;
    return handler == nullptr ? wrong_method(allowed) : (this->*handler)(visit);
  }

  [[nodiscard]] static HttpAnswer unavailable(const std::string& why) {
    return refusal(500, "The server's journal is unavailable: " + why);
  }

  [[nodiscard]] HttpAnswer evaluate(const Visit& visit) const { return evaluation_.answer(visit); }
  [[nodiscard]] HttpAnswer compare(const Visit& visit) const { return comparison_.answer(visit); }
  [[nodiscard]] HttpAnswer page(const Visit& visit) const {
    return page_file(path_of(visit.request));
  }
  [[nodiscard]] HttpAnswer job(const Visit& visit) const {
    return job_answer(jobs_, path_of(visit.request).substr(kJobPrefix.size()), visit);
  }
  [[nodiscard]] HttpAnswer jobs(const Visit& visit) const { return recent_jobs(jobs_, visit); }

  [[nodiscard]] HttpAnswer health(const Visit& visit) const {
    const bool anybody = visit.principal.empty();
    const tools::Health health =
        tools::health(jobs_, anybody ? tools::Telling::names : tools::Telling::everything);
    return json_answer(health.healthy ? 200 : 500, health.told);
  }

  [[nodiscard]] HttpAnswer stats(const Visit&) const {
    return json_answer(200, tools::server_stats(jobs_));
  }

  [[nodiscard]] HttpAnswer metrics(const Visit&) const {
    return text_answer("text/plain; version=0.0.4; charset=utf-8",
                       metrics_text(tools::server_stats(jobs_)));
  }

  [[nodiscard]] HttpAnswer clean_up(const Visit& visit) const {
    const std::size_t removed = jobs_.remove_finished(visit.principal, kCleanupAge);
    return json_answer(200, {{"status", "cleanup_completed"}, {"removed", removed}});
  }

  tools::Jobs& jobs_;
  const Machine machine_ = this_machine();
  const Judging evaluation_;
  const Judging comparison_;
};

}  // namespace

mcp::http::Site site(tools::Jobs& jobs, const tools::Library* library) {
  const auto rest = std::make_shared<const Rest>(jobs, library);
  return {.serves = Rest::serves,
          .is_public = Rest::is_public,
          .answer = [rest](const Visit& visit) { return rest->answer(visit); },
          .refusal = Rest::refusal};
}

}  // namespace assay::rest
