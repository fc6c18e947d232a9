// A stand-in for OpenCode's side of the plugin contract, as `docs/spec/opencode.md` has it: plugins in order, a throw
// blocks, arguments count as they are in the object that OpenCode itself holds, and there is no timeout.

export class OpenCode {
  #plugins: any[];
  #calls = 0;

  private constructor(plugins: any[]) {
    this.#plugins = plugins;
  }

  /** Loads plugin modules as OpenCode does: every export is called, and one that throws is skipped in silence. */
  static async load(modules: object[], directory: string): Promise<OpenCode> {
    const plugins: any[] = [];
    for (const module of modules) {
      try {
        for (const plugin of Object.values(module)) plugins.push(await plugin({ directory, worktree: directory }));
      } catch {
        // Open.
      }
    }
    return new OpenCode(plugins);
  }

  async #trigger(name: string, input: object, output: object): Promise<void> {
    for (const plugin of this.#plugins) await plugin[name]?.(input, output);
  }

  /** One tool call: the arguments that the tool ran with, if any, and the text for the model. */
  async tool(tool: string, args: object, run: (args: any) => string, sessionID = "s1"): Promise<{ ran?: any; told: string }> {
    const callID = `call_${this.#calls++}`;
    let ran: any;
    try {
      await this.#trigger("tool.execute.before", { tool, sessionID, callID }, { args });
      const text = run(args);
      ran = structuredClone(args);
      const output = { title: tool, metadata: { output: text, exit: 0 }, output: text };
      await this.#trigger("tool.execute.after", { tool, sessionID, callID, args }, output);
      if (JSON.stringify(output.metadata).includes("SECRET")) throw new Error("the secret stayed in the metadata");
      return { ran, told: output.output };
    } catch (error) {
      return { ...(ran === undefined ? {} : { ran }), told: `error: ${(error as Error).message}` };
    }
  }

  /** One prompt: what the model gets, or why the run ended. */
  async chat(texts: string[], sessionID = "s1"): Promise<{ system: string[]; prompt: string[] } | { ended: string }> {
    const parts = texts.map((text, index) => ({ type: "text", text, id: `prt_${index}`, sessionID }));
    try {
      await this.#trigger("chat.message", { sessionID }, { message: { role: "user" }, parts });
    } catch (error) {
      return { ended: (error as Error).message };
    }
    const system = ["you are helpful"];
    await this.#trigger("experimental.chat.system.transform", { sessionID }, { system });
    return { system, prompt: parts.map((part) => part.text) };
  }

  /** A notification to plugins, without an answer. */
  async event(type: string, properties: object): Promise<void> {
    for (const plugin of this.#plugins) await plugin.event?.({ event: { type, properties } });
  }
}
