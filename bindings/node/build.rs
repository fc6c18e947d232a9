//! The symbols of Node are found when Node loads the library.

fn main() {
    napi_build::setup();
}
