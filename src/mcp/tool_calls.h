// tools/call: from a name and arguments to exactly one answer. The call starts on the event thread,
// is adapted, checked, run and encoded on a pool thread, and is answered on the event thread again.
// A tool whose last call was quick is left to the event thread, if that can be replaced in time
// (EventLoop::carry_out): waking another thread costs more than such a call does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "mcp/catalogue.h"
#include "mcp/event_loop.h"
#include "mcp/lifecycle.h"
#include "mcp/method_table.h"
#include "mcp/progress_gate.h"
#include "mcp/questions.h"
#include "mcp/server.h"
#include "mcp/tool_pool.h"

namespace assay::mcp {

struct CallParams {
  std::string name{};
  Json arguments = Json::object();
  void read(Reader& reader) {
    reader.required("name", name);
    reader.optional("arguments", arguments);
  }
};

class ToolCalls {
 public:
  // All references must outlive this object.
  ToolCalls(const Catalogue& catalogue, const Identity& identity, const Limits& limits,
            bool check_results, EventLoop& loop, Log log);

  // The encoded result member, or why there is none.
  using Ending = std::variant<std::string, RpcError>;

  void start(const Call& call, CallParams params, Reply reply);
  // The rest of any request that may block: `work` runs on a pool thread; what it throws is our
  // fault and answered as such.
  // `what` names it in that answer.
  void defer(const Call& call, Reply reply, std::string what,
             std::function<Ending(CallContext&)> work) {
    defer(call, std::move(reply), std::move(what), std::move(work), nullptr);
  }
  // Work that is no request's: it must not throw. False: there is no thread for it.
  [[nodiscard]] bool work(std::function<void()> work);
  // The client answered something that a call asked.
  void answered(const Session& session, const Response& response) {
    questions_.answered(session, response);
  }
  // Waits for the tools; returns how many would not end within the grace. Those keep `owner` alive.
  [[nodiscard]] std::size_t drain(std::shared_ptr<void> owner) {
    return pool_.drain(limits_.stop_grace, std::move(owner));
  }

 private:
  struct Running {
    Reply reply;
    std::shared_ptr<ProgressGate> gate{};
    const Entry* tool = nullptr;  // whose pace is kept
  };
  struct Done {
    Ending ending;
    Clock::duration took{};
  };

  void defer(const Call& call, Reply reply, std::string what,
             std::function<Ending(CallContext&)> work, const Entry* tool);

  [[nodiscard]] std::shared_ptr<ProgressGate> open_gate(std::uint64_t serial,
                                                        const ProgressToken& token,
                                                        Revision revision);
  [[nodiscard]] std::shared_ptr<CallContext> open_context(std::uint64_t serial, const Call& call);
  [[nodiscard]] Ending guarded(const std::string& what,
                               const std::function<Ending(CallContext&)>& work,
                               CallContext& context) const;
  [[nodiscard]] ToolResult judge(const Lookup& tool, Json arguments, CallContext& context) const;
  void keep_promise(const Entry& entry, ToolResult& result) const;
  void finish(std::uint64_t serial, const Done& done);

  const Catalogue& catalogue_;
  const Identity& identity_;
  const Limits& limits_;
  const bool check_results_;
  EventLoop& loop_;
  const Log log_;
  std::uint64_t last_serial_ = 0;
  std::map<std::uint64_t, Running> running_{};
  std::map<const Entry*, Clock::duration> last_took_{};
  Questions questions_{loop_};
  ToolPool pool_;  // last: its threads use everything above
};

}  // namespace assay::mcp
