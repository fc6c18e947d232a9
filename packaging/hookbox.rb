class Hookbox < Formula
  desc "@DESCRIPTION@"
  homepage "@REPOSITORY@"
  url "@REPOSITORY@/releases/download/v@VERSION@/hookbox-@VERSION@-source.tar.gz"
  sha256 "@SHA256@"
  license "Apache-2.0" => { with: "LLVM-exception" }

  depends_on "rust" => :build

  def install
    system "cargo", "install", "--profile", "dist", *std_cargo_args(path: "host/cli")
    system bin/"hookbox", "man", buildpath/"pages"
    man1.install Dir["pages/man1/*"]
    bash_completion.install "pages/completions/hookbox.bash" => "hookbox"
    zsh_completion.install "pages/completions/_hookbox"
    fish_completion.install "pages/completions/hookbox.fish"
  end

  test do
    event = '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}'
    deny = '{"type":"command","command":"echo no >&2; exit 2"}'
    (testpath/"hooks.json").write %Q({"hooks":{"PreToolUse":[{"hooks":[#{deny}]}]}})
    assert_match "deny", pipe_output("#{bin}/hookbox run --dialect claude --config hooks.json", event, 0)
  end
end
