// Written by `just bindings` from the contract. Do not edit.

export { send } from "hookbox:hooks/http@0.2.0";
