// Refuses `rm -rf`, without any SDK: the contract (wit/pre-tool-use.wit) and the canonical ABI are all there is.
//
// A core module becomes a hook by the names of its exports. What has more than 16 values is passed in memory, in the
// layout of a C struct with 32-bit pointers, so the records of the contract are structs here.
#include <stdint.h>

typedef struct { const char *at; uint32_t length; } string;
typedef struct { uint8_t is_some; string value; } option_string;
typedef struct { uint8_t is_some; uint32_t value; } option_u32;

typedef struct {
  string dialect, event_name;
  option_string session_id, transcript_path, cwd, permission_mode, project_dir, execution_id, timestamp, agent_id,
      parent_tool_use_id, turn_id, parent_turn_id;
  option_u32 iteration;
  option_string channel, chat_id;
} event_context;

typedef struct {
  string name, input;
  option_string use_id, original_input;
} tool_call;

typedef struct {
  uint8_t is_some;
  struct { uint8_t scope; option_string reason; } value;
} option_halt;

typedef struct {
  option_string context, system_message;
  uint8_t suppress_output;
  option_halt halt;
  option_string extra;
} effects;

typedef struct {
  string for_llm;
  option_string for_user;
  uint8_t silent, is_error;
  option_string extra;
} response;

enum { PASS, ALLOW, ASK, DENY, SKIP, RESPOND };

typedef struct {
  struct { uint8_t kind; union { option_string reason; response response; } value; } decision;
  option_string updated_input, updated_tool;
  effects effects;
} output;

typedef struct {
  uint8_t is_fault;
  union { output output; struct { uint8_t kind; string why; } fault; } value;
} result;

_Static_assert(sizeof(event_context) == 180, "the contract's layout");
_Static_assert(sizeof(result) == 128, "the contract's layout");

// A hook is called once, and its memory is thrown away: nothing is ever freed.
extern uint8_t __heap_base;
static uintptr_t taken;

__attribute__((export_name("cabi_realloc")))
void *cabi_realloc(void *old, uint32_t old_size, uint32_t align, uint32_t size) {
  if (taken == 0) taken = (uintptr_t)&__heap_base;
  uint8_t *place = (uint8_t *)((taken + align - 1) & ~(uintptr_t)(align - 1));
  taken = (uintptr_t)place + size;
  uintptr_t room = __builtin_wasm_memory_size(0) << 16;
  if (taken > room && __builtin_wasm_memory_grow(0, (taken - room + 0xffff) >> 16) == (uintptr_t)-1) __builtin_trap();
  for (uint32_t i = 0; i < old_size && i < size; i++) place[i] = ((uint8_t *)old)[i];
  return place;
}

static int contains(string text, const char *word) {
  for (uint32_t i = 0; i < text.length; i++) {
    uint32_t j = 0;
    while (word[j] && i + j < text.length && text.at[i + j] == word[j]) j++;
    if (!word[j]) return 1;
  }
  return 0;
}

static const char why[] = "`rm -rf` is not allowed here";
static result answer;

// The input is JSON text; whatever stands in it, `rm -rf` is written the same there.
__attribute__((export_name("hookbox:hooks/pre-tool-use@0.2.0#handle")))
result *handle(const struct { event_context context; tool_call call; } *arguments) {
  if (contains(arguments->call.input, "rm -rf")) {
    answer.value.output.decision.kind = DENY;
    answer.value.output.decision.value.reason = (option_string){1, {why, sizeof why - 1}};
  }
  return &answer;
}
