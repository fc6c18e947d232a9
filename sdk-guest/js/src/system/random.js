export { getRandomBytes } from "wasi:random/random@0.2.12";
