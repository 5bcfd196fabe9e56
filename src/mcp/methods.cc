// The methods of this server, in one table.
#include "mcp/codec.h"
#include "mcp/dispatcher.h"

namespace assay::mcp {
namespace {

struct NoParams {
  void read(Reader&) {}
};

struct InitializeParams {
  std::string protocol_version{};
  Json capabilities = Json::object();
  Json client_info = Json::object();
  void read(Reader& reader) {
    reader.required("protocolVersion", protocol_version);
    reader.optional("capabilities", capabilities);
    reader.optional("clientInfo", client_info);
  }
};

struct ListParams {
  std::optional<std::string> cursor{};
  void read(Reader& reader) { reader.optional("cursor", cursor); }
  // An empty cursor is one, and names the beginning.
  [[nodiscard]] bool names_no_page() const { return cursor && !cursor->empty(); }
};

struct LevelParams {
  std::string level{};
  void read(Reader& reader) { reader.required("level", level); }
};

struct CancelledParams {
  RequestId request_id{};
  void read(Reader& reader) { reader.required("requestId", request_id); }
};

RpcError bad_cursor() {
  return invalid_params({{.pointer = "/params/cursor",
                          .keyword = "cursor",
                          .message = "not a cursor of this server: the list has one page"}});
}

}  // namespace

const std::string& Dispatcher::tools_listing(Revision revision) {
  std::string& listing = listings_[revision];
  if (listing.empty()) listing = encode(tools_result(identity_, catalogue_, revision));
  return listing;
}

// What a server does not offer, it does not know: the method is unknown then.
void Dispatcher::add_library_methods(MethodTable& methods) {
  if (identity_.offers.resources) {
    methods.push_back(
        {"resources/list", Eras::both, true,
         bind_request<ListParams>([this](const Call& call, const ListParams& params, Reply reply) {
           if (params.names_no_page()) return reply.error(bad_cursor());
           library_.list_resources(call, std::move(reply), calls_);
         })});
    methods.push_back(
        {"resources/templates/list", Eras::both, true,
         bind_request<ListParams>([this](const Call& call, const ListParams& params, Reply reply) {
           if (params.names_no_page()) return reply.error(bad_cursor());
           library_.list_templates(call, std::move(reply));
         })});
    methods.push_back(
        {"resources/read", Eras::both, true,
         bind_request<ReadParams>([this](const Call& call, ReadParams params, Reply reply) {
           library_.read(call, std::move(params), std::move(reply), calls_);
         })});
  }
  if (identity_.offers.subscriptions)
    for (const char* name : {"resources/subscribe", "resources/unsubscribe"})
      methods.push_back({name, Eras::legacy, true,
                         bind_request<ReadParams>([](const Call&, const ReadParams&, Reply reply) {
                           reply.result("{}");
                         })});
  if (identity_.offers.logging)
    methods.push_back(
        {"logging/setLevel", Eras::legacy, true,
         bind_request<LevelParams>([](const Call& call, const LevelParams& params, Reply reply) {
           const auto level = log_level_from(params.level);
           if (!level)
             return reply.error(invalid_params(
                 {{.pointer = "/params/level", .keyword = "enum", .message = "not a log level"}}));
           call.peer->session().log_level = *level;
           reply.result("{}");
         })});
  if (identity_.offers.prompts) {
    methods.push_back(
        {"prompts/list", Eras::both, true,
         bind_request<ListParams>([this](const Call& call, const ListParams& params, Reply reply) {
           if (params.names_no_page()) return reply.error(bad_cursor());
           library_.list_prompts(call, std::move(reply));
         })});
    methods.push_back({"prompts/get", Eras::both, true,
                       bind_request<PromptParams>(
                           [this](const Call& call, const PromptParams& params, Reply reply) {
                             library_.get_prompt(call, params, std::move(reply), calls_);
                           })});
  }
  if (identity_.offers.completions)
    methods.push_back({"completion/complete", Eras::both, true,
                       bind_request<CompleteParams>(
                           [this](const Call& call, const CompleteParams& params, Reply reply) {
                             library_.complete(call, params, std::move(reply), calls_);
                           })});
}

void Dispatcher::add_task_methods(MethodTable& methods) {
  if (!identity_.offers.tasks) return;
  methods.push_back({"subscriptions/listen", Eras::modern, false,
                     bind_request<ListenParams>(
                         [this](const Call& call, const ListenParams& params, Reply reply) {
                           subscriptions_.listen(call, params, std::move(reply));
                         })});
  methods.push_back(
      {"tasks/get", Eras::modern, false,
       bind_request<TaskParams>([this](const Call& call, const TaskParams& params, Reply reply) {
         tasks_.get(call, params, std::move(reply), calls_);
       })});
  methods.push_back(
      {"tasks/cancel", Eras::modern, false,
       bind_request<TaskParams>([this](const Call& call, const TaskParams& params, Reply reply) {
         tasks_.cancel(call, params, std::move(reply), calls_);
       })});
  methods.push_back({"tasks/update", Eras::modern, false,
                     bind_request<UpdateParams>(
                         [this](const Call& call, const UpdateParams& params, Reply reply) {
                           tasks_.update(call, params, std::move(reply), calls_);
                         })});
}

MethodTable Dispatcher::make_methods() {
  MethodTable methods = core_methods();
  add_library_methods(methods);
  add_task_methods(methods);
  return methods;
}

MethodTable Dispatcher::core_methods() {
  return {
      {"server/discover", Eras::modern, false,
       bind_request<NoParams>([this](const Call&, NoParams, Reply reply) {
         reply.result(encode(discover_result(identity_)));
       })},
      // Accepted at any time, also again and after modern requests: clients probe and then fall
      // back.
      {"initialize", Eras::legacy, false,
       bind_request<InitializeParams>(
           [this](const Call& call, const InitializeParams& params, Reply reply) {
             Client client =
                 negotiate(params.protocol_version, params.capabilities, params.client_info);
             const Revision revision = client.revision;
             call.peer->session().legacy_client = std::move(client);
             reply.result(encode(initialize_result(identity_, revision)));
           })},
      // Nothing waits for it: requests are served as soon as `initialize` is answered.
      {"notifications/initialized", Eras::legacy, false,
       bind_notification<NoParams>([](Peer&, NoParams) {})},
      {"ping", Eras::legacy, false,
       bind_request<NoParams>([](const Call&, NoParams, Reply reply) { reply.result("{}"); })},
      {"tools/list", Eras::both, true,
       bind_request<ListParams>([this](const Call& call, const ListParams& params, Reply reply) {
         if (params.names_no_page()) return reply.error(bad_cursor());
         reply.result(tools_listing(call.client.revision));
       })},
      {"tools/call", Eras::both, true,
       bind_request<CallParams>([this](const Call& call, CallParams params, Reply reply) {
         calls_.start(call, std::move(params), std::move(reply));
       })},
      {"notifications/cancelled", Eras::both, false,
       bind_notification<CancelledParams>(
           [this](Peer& peer, const CancelledParams& params) { cancel(peer, params.request_id); })},
  };
}

}  // namespace assay::mcp
