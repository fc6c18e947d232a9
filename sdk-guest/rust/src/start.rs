//! Code that runs once, when the hook is built, instead of at each call.

/// Allocates memory and frees it again. A component that starts with free memory need not request more from the host,
/// which costs more than the work of most hooks.
pub fn start() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(60 << 10)));
}
