;; Between Go, which speaks WASI preview 1, and a hook's world. The official adapter reads the clock while the component is
;; asked for memory, where a component may not call out, and brings a file system and sockets with it. Here:
;;
;;   clocks, random, sleep   the host's own, through the inert part of WASI
;;   stdout, stderr          whole lines to the log, as info and warn; what is not UTF-8 becomes `?`
;;   arguments, environment  empty
;;   files                   there are none
(module
  (import "env" "memory" (memory 0))
  (import "wasi:clocks/wall-clock@0.2.0" "now" (func $wall (param i32)))
  (import "wasi:clocks/monotonic-clock@0.2.0" "now" (func $monotonic (result i64)))
  (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $after (param i64) (result i32)))
  (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
  (import "wasi:io/poll@0.2.0" "[resource-drop]pollable" (func $drop_pollable (param i32)))
  (import "wasi:random/random@0.2.0" "get-random-u64" (func $random (result i64)))
  (import "hookbox:hooks/log@0.2.0" "log" (func $log (param i32 i32 i32)))

  ;; While memory is asked for, the clocks stand at what they last said.
  (global $paused (mut i32) (i32.const 0))
  (global $wall_last (mut i64) (i64.const 0))
  (global $monotonic_last (mut i64) (i64.const 0))
  (func (export "hookbox_pause_clock") (param $paused i32) (global.set $paused (local.get $paused)))

  (func $monotonic_now (result i64)
    (if (i32.eqz (global.get $paused)) (then (global.set $monotonic_last (call $monotonic))))
    (global.get $monotonic_last))

  ;; `now` writes 16 bytes where the caller has room for 8: what stands behind is put back.
  (func $wall_now (param $at i32) (result i64)
    (local $behind i64)
    (if (i32.eqz (global.get $paused))
      (then
        (local.set $behind (i64.load offset=8 (local.get $at)))
        (call $wall (local.get $at))
        (global.set $wall_last
          (i64.add
            (i64.mul (i64.load (local.get $at)) (i64.const 1000000000))
            (i64.load32_u offset=8 (local.get $at))))
        (i64.store offset=8 (local.get $at) (local.get $behind))))
    (global.get $wall_last))

  (func (export "clock_time_get") (param $clock i32) (param $precision i64) (param $at i32) (result i32)
    (i64.store (local.get $at)
      (if (result i64) (local.get $clock)
        (then (call $monotonic_now))
        (else (call $wall_now (local.get $at)))))
    (i32.const 0))

  (func (export "random_get") (param $at i32) (param $length i32) (result i32)
    (local $bits i64) (local $i i32)
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $i) (local.get $length)))
        (if (i32.eqz (i32.and (local.get $i) (i32.const 7))) (then (local.set $bits (call $random))))
        (i64.store8 (i32.add (local.get $at) (local.get $i)) (local.get $bits))
        (local.set $bits (i64.shr_u (local.get $bits) (i64.const 8)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (i32.const 0))

  ;; Nanoseconds until a subscription (48 bytes) fires; those that are not about a clock never do.
  (func $until (param $subscription i32) (result i64)
    (local $time i64)
    (if (i32.load8_u offset=8 (local.get $subscription)) (then (return (i64.const -1))))
    (local.set $time (i64.load offset=24 (local.get $subscription)))
    (if (i32.and (i32.load16_u offset=40 (local.get $subscription)) (i32.const 1))
      (then
        (local.set $time (i64.sub (local.get $time) (call $monotonic_now)))
        (if (i64.lt_s (local.get $time) (i64.const 0)) (then (return (i64.const 0))))))
    (local.get $time))

  (func (export "poll_oneoff") (param $in i32) (param $out i32) (param $n i32) (param $fired i32) (result i32)
    (local $i i32) (local $at i32) (local $first i64) (local $count i32) (local $pollable i32)
    (local.set $first (i64.const -1))
    (loop $next
      (if (i32.lt_u (local.get $i) (local.get $n))
        (then
          (local.set $at (i32.add (local.get $in) (i32.mul (local.get $i) (i32.const 48))))
          (if (i64.lt_u (call $until (local.get $at)) (local.get $first))
            (then (local.set $first (call $until (local.get $at))) (local.set $pollable (local.get $at))))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br $next))))
    ;; Nothing would ever fire: ENOTSUP.
    (if (i64.eq (local.get $first) (i64.const -1)) (then (return (i32.const 58))))
    (local.set $at (local.get $pollable))
    (if (i32.and (i64.ne (local.get $first) (i64.const 0)) (i32.eqz (global.get $paused)))
      (then
        (local.set $pollable (call $after (local.get $first)))
        (call $block (local.get $pollable))
        (call $drop_pollable (local.get $pollable))))
    ;; The one that fired first is told, and the caller asks again for the others.
    (i64.store (local.get $out) (i64.load (local.get $at)))
    (i64.store offset=8 (local.get $out) (i64.const 0))
    (i64.store offset=16 (local.get $out) (i64.const 0))
    (i64.store offset=24 (local.get $out) (i64.const 0))
    (i32.store (local.get $fired) (i32.const 1))
    (i32.const 0))

  ;; Lines are gathered in memory that Go lends; before it does, pieces are logged as they come.
  (global $line (mut i32) (i32.const 0))
  (global $room (mut i32) (i32.const 0))
  (global $length (mut i32) (i32.const 0))
  (global $level (mut i32) (i32.const 0))
  (func (export "hookbox_line_buffer") (param $at i32) (param $room i32)
    (global.set $line (local.get $at))
    (global.set $room (local.get $room)))

  (func $flush (export "hookbox_flush")
    (if (global.get $length)
      (then
        (call $make_utf8 (global.get $line) (global.get $length))
        (call $log (global.get $level) (global.get $line) (global.get $length))
        (global.set $length (i32.const 0)))))

  (func $put (param $level i32) (param $byte i32)
    (if (i32.ne (global.get $level) (local.get $level)) (then (call $flush)))
    (global.set $level (local.get $level))
    (if (i32.eq (local.get $byte) (i32.const 10)) (then (call $flush) (return)))
    ;; A full buffer goes out before a character, not within one.
    (if (i32.or
          (i32.eq (global.get $length) (global.get $room))
          (i32.and
            (i32.gt_u (global.get $length) (i32.sub (global.get $room) (i32.const 4)))
            (i32.ne (i32.and (local.get $byte) (i32.const 0xc0)) (i32.const 0x80))))
      (then (call $flush)))
    (i32.store8 (i32.add (global.get $line) (global.get $length)) (local.get $byte))
    (global.set $length (i32.add (global.get $length) (i32.const 1))))

  ;; Every byte that is not part of a character becomes `?`.
  (func $make_utf8 (param $at i32) (param $length i32)
    (local $end i32) (local $size i32)
    (local.set $end (i32.add (local.get $at) (local.get $length)))
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $end))
        (then
          (local.set $size (call $character (local.get $at) (i32.sub (local.get $end) (local.get $at))))
          (if (i32.eqz (local.get $size))
            (then (i32.store8 (local.get $at) (i32.const 63)) (local.set $size (i32.const 1))))
          (local.set $at (i32.add (local.get $at) (local.get $size)))
          (br $next)))))

  ;; Bytes of the character that begins here, or 0. Table 3-7 of the Unicode standard.
  (func $character (param $at i32) (param $left i32) (result i32)
    (local $lead i32) (local $size i32) (local $low i32) (local $high i32) (local $i i32)
    (local.set $lead (i32.load8_u (local.get $at)))
    (if (i32.lt_u (local.get $lead) (i32.const 0x80)) (then (return (i32.const 1))))
    (if (i32.lt_u (local.get $lead) (i32.const 0xc2)) (then (return (i32.const 0))))
    (if (i32.gt_u (local.get $lead) (i32.const 0xf4)) (then (return (i32.const 0))))
    (local.set $size
      (i32.add (i32.const 2)
        (i32.add
          (i32.ge_u (local.get $lead) (i32.const 0xe0))
          (i32.ge_u (local.get $lead) (i32.const 0xf0)))))
    (if (i32.lt_u (local.get $left) (local.get $size)) (then (return (i32.const 0))))
    (local.set $low (i32.const 0x80))
    (local.set $high (i32.const 0xbf))
    (if (i32.eq (local.get $lead) (i32.const 0xe0)) (then (local.set $low (i32.const 0xa0))))
    (if (i32.eq (local.get $lead) (i32.const 0xed)) (then (local.set $high (i32.const 0x9f))))
    (if (i32.eq (local.get $lead) (i32.const 0xf0)) (then (local.set $low (i32.const 0x90))))
    (if (i32.eq (local.get $lead) (i32.const 0xf4)) (then (local.set $high (i32.const 0x8f))))
    (local.set $i (i32.const 1))
    (loop $next
      (if (i32.lt_u (i32.load8_u (i32.add (local.get $at) (local.get $i))) (local.get $low)) (then (return (i32.const 0))))
      (if (i32.gt_u (i32.load8_u (i32.add (local.get $at) (local.get $i))) (local.get $high)) (then (return (i32.const 0))))
      (local.set $low (i32.const 0x80))
      (local.set $high (i32.const 0xbf))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (local.get $size))))
    (local.get $size))

  (func (export "fd_write") (param $fd i32) (param $list i32) (param $n i32) (param $written i32) (result i32)
    (local $at i32) (local $end i32) (local $sum i32)
    (if (i32.gt_u (i32.sub (local.get $fd) (i32.const 1)) (i32.const 1)) (then (return (i32.const 8))))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $n)))
        (local.set $at (i32.load (local.get $list)))
        (local.set $end (i32.add (local.get $at) (i32.load offset=4 (local.get $list))))
        (local.set $sum (i32.add (local.get $sum) (i32.load offset=4 (local.get $list))))
        (if (global.get $room)
          (then
            (loop $byte
              (if (i32.lt_u (local.get $at) (local.get $end))
                (then
                  (call $put (local.get $fd) (i32.load8_u (local.get $at)))
                  (local.set $at (i32.add (local.get $at) (i32.const 1)))
                  (br $byte)))))
          (else
            (call $log (local.get $fd) (local.get $at) (i32.sub (local.get $end) (local.get $at)))))
        (local.set $list (i32.add (local.get $list) (i32.const 8)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br $next)))
    (i32.store (local.get $written) (local.get $sum))
    (i32.const 0))

  ;; Go ends a process that it cannot go on with; what it said about that is in the log.
  (func (export "proc_exit") (param i32) (call $flush) (unreachable))
  (func (export "sched_yield") (result i32) (i32.const 0))

  (func $none (param $count i32) (param $size i32) (result i32)
    (i32.store (local.get $count) (i32.const 0))
    (i32.store (local.get $size) (i32.const 0))
    (i32.const 0))
  (export "args_sizes_get" (func $none))
  (export "environ_sizes_get" (func $none))
  (func $nothing (param i32 i32) (result i32) (i32.const 0))
  (export "args_get" (func $nothing))
  (export "environ_get" (func $nothing))

  ;; EBADF, EACCES: there are no files.
  (func $no_file1 (param i32) (result i32) (i32.const 8))
  (export "fd_close" (func $no_file1))
  (export "fd_sync" (func $no_file1))
  (func $no_file2 (param i32 i32) (result i32) (i32.const 8))
  (export "fd_fdstat_get" (func $no_file2))
  (export "fd_fdstat_set_flags" (func $no_file2))
  (export "fd_filestat_get" (func $no_file2))
  (export "fd_prestat_get" (func $no_file2))
  (export "sock_shutdown" (func $no_file2))
  (func (export "fd_filestat_set_size") (param i32 i64) (result i32) (i32.const 8))
  (func $no_file3 (param i32 i32 i32) (result i32) (i32.const 8))
  (export "fd_prestat_dir_name" (func $no_file3))
  (export "sock_accept" (func $no_file3))
  (export "path_create_directory" (func $no_file3))
  (export "path_remove_directory" (func $no_file3))
  (export "path_unlink_file" (func $no_file3))
  (func $no_file4 (param i32 i32 i32 i32) (result i32) (i32.const 8))
  (export "fd_read" (func $no_file4))
  (func (export "fd_seek") (param i32 i64 i32 i32) (result i32) (i32.const 8))
  (func (export "fd_readdir") (param i32 i32 i32 i64 i32) (result i32) (i32.const 8))
  (func $no_file_at (param i32 i32 i32 i64 i32) (result i32) (i32.const 8))
  (export "fd_pread" (func $no_file_at))
  (export "fd_pwrite" (func $no_file_at))
  (func $no_path5 (param i32 i32 i32 i32 i32) (result i32) (i32.const 8))
  (export "path_filestat_get" (func $no_path5))
  (export "path_symlink" (func $no_path5))
  (func $no_path6 (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 8))
  (export "path_readlink" (func $no_path6))
  (export "path_rename" (func $no_path6))
  (func (export "path_link") (param i32 i32 i32 i32 i32 i32 i32) (result i32) (i32.const 8))
  (func (export "path_filestat_set_times") (param i32 i32 i32 i32 i64 i64 i32) (result i32) (i32.const 8))
  (func (export "path_open") (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32) (i32.const 8)))
