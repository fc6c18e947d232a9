// Written by `just bindings` from the contract. Do not edit.

export { complete } from "hookbox:hooks/llm@0.2.0";
