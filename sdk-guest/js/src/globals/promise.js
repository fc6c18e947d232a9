// Promise as in ECMAScript, with a queue that can be emptied. The engine empties its own queue only after a call.

const PENDING = 0;
const FULFILLED = 1;
const REJECTED = 2;

/** Jobs queued by `then`. */
export const jobs = [];
/** Rejections without a handler. */
export const unhandled = new Map();

export class Promise {
  #state = PENDING;
  #value;
  #reactions = [];

  constructor(executor) {
    if (typeof executor !== "function") throw new TypeError("a Promise is made with a function");
    const { resolve, reject } = this.#settlers();
    try {
      executor(resolve, reject);
    } catch (error) {
      reject(error);
    }
  }

  /** Returns a pair of functions of which only the first call counts. */
  #settlers() {
    let called = false;
    const once = (act) => (value) => {
      if (!called) {
        called = true;
        act(value);
      }
    };
    return { resolve: once((value) => this.#resolve(value)), reject: once((error) => this.#settle(REJECTED, error)) };
  }

  #resolve(value) {
    if (value === this) return this.#settle(REJECTED, new TypeError("a Promise cannot wait for itself"));
    let then;
    try {
      then = Object(value) === value ? value.then : undefined;
    } catch (error) {
      return this.#settle(REJECTED, error);
    }
    if (typeof then !== "function") return this.#settle(FULFILLED, value);
    jobs.push(() => {
      const { resolve, reject } = this.#settlers();
      try {
        then.call(value, resolve, reject);
      } catch (error) {
        reject(error);
      }
    });
  }

  #settle(state, value) {
    this.#state = state;
    this.#value = value;
    if (state === REJECTED && this.#reactions.length === 0) unhandled.set(this, value);
    for (const react of this.#reactions) jobs.push(react);
    this.#reactions = [];
  }

  then(onFulfilled, onRejected) {
    const Species = this.constructor[Symbol.species] ?? Promise;
    return new Species((resolve, reject) => {
      const react = () => {
        const fulfilled = this.#state === FULFILLED;
        const handler = fulfilled ? onFulfilled : onRejected;
        if (typeof handler !== "function") return fulfilled ? resolve(this.#value) : reject(this.#value);
        try {
          resolve(handler(this.#value));
        } catch (error) {
          reject(error);
        }
      };
      unhandled.delete(this);
      if (this.#state === PENDING) this.#reactions.push(react);
      else jobs.push(react);
    });
  }

  catch(onRejected) {
    return this.then(undefined, onRejected);
  }

  finally(act) {
    if (typeof act !== "function") return this.then(act, act);
    const after = (next) => this.constructor.resolve(act()).then(next);
    return this.then(
      (value) => after(() => value),
      (error) =>
        after(() => {
          throw error;
        }),
    );
  }

  static get [Symbol.species]() {
    return this;
  }

  get [Symbol.toStringTag]() {
    return "Promise";
  }

  static resolve(value) {
    return value instanceof Promise && value.constructor === this ? value : new this((resolve) => resolve(value));
  }

  static reject(error) {
    return new this((_, reject) => reject(error));
  }

  static withResolvers() {
    let resolve, reject;
    const promise = new this((first, second) => ([resolve, reject] = [first, second]));
    return { promise, resolve, reject };
  }

  static try(act, ...values) {
    return new this((resolve) => resolve(act(...values)));
  }

  static race(promises) {
    return new this((resolve, reject) => {
      for (const promise of promises) this.resolve(promise).then(resolve, reject);
    });
  }

  static all(promises) {
    return this.#every(promises, (keep, _, reject) => [keep, reject]);
  }

  static allSettled(promises) {
    return this.#every(promises, (keep) => [
      (value) => keep({ status: "fulfilled", value }),
      (reason) => keep({ status: "rejected", reason }),
    ]);
  }

  static any(promises) {
    const aggregate = (errors) => {
      throw new AggregateError(errors, "every promise was rejected");
    };
    return this.#every(promises, (keep, resolve) => [resolve, keep], aggregate);
  }

  /** Attaches `handlers` to each promise. Resolves with the array of kept values once all promises have one. */
  static #every(promises, handlers, then = (values) => values) {
    return new this((resolve, reject) => {
      const values = [];
      let left = 1;
      const done = () => {
        if (--left > 0) return;
        try {
          resolve(then(values));
        } catch (error) {
          reject(error);
        }
      };
      let index = 0;
      for (const promise of promises) {
        const at = index++;
        left++;
        const keep = (value) => {
          values[at] = value;
          done();
        };
        this.resolve(promise).then(...handlers(keep, resolve, reject));
      }
      done();
    });
  }
}
