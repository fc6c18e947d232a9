//! Secrets that are known by how they begin.
//!
//! The forms are those that the issuers document, and that gitleaks has rules for.

use crate::class::{Class, entropy};

/// A form of secret: a beginning, and letters behind it.
struct Form {
    name: &'static str,
    start: &'static str,
    letters: &'static Class,
    least: usize,
    most: usize,
    /// Bits per byte that it has at least.
    entropy: f64,
}

static WORD: Class = Class::of("A-Za-z0-9");
static WORD_: Class = Class::of("A-Za-z0-9_");
static DASH: Class = Class::of("A-Za-z0-9_-");
static DOTS: Class = Class::of("A-Za-z0-9_.=-");
static BASE64: Class = Class::of("A-Za-z0-9+/=");
static HEX: Class = Class::of("a-f0-9");
static UPPER: Class = Class::of("A-Z0-9");
static UPPER_DASH: Class = Class::of("A-Z0-9-");
static DIGITS_COLON: Class = Class::of("A-Za-z0-9_/-");

const fn form(name: &'static str, start: &'static str, letters: &'static Class, least: usize, most: usize) -> Form {
    Form { name, start, letters, least, most, entropy: 2.5 }
}

static FORMS: &[Form] = &[
    form("aws-access-key-id", "AKIA", &UPPER, 16, 16),
    form("aws-access-key-id", "ASIA", &UPPER, 16, 16),
    form("aws-access-key-id", "ABIA", &UPPER, 16, 16),
    form("aws-access-key-id", "ACCA", &UPPER, 16, 16),
    form("aws-bedrock-key", "ABSK", &BASE64, 100, 300),
    form("alibaba-access-key-id", "LTAI", &WORD, 12, 24),
    form("anthropic-key", "sk-ant-", &DASH, 20, 200),
    form("openai-key", "sk-proj-", &DASH, 20, 220),
    form("openai-key", "sk-svcacct-", &DASH, 20, 220),
    form("openai-key", "sk-admin-", &DASH, 20, 220),
    form("openrouter-key", "sk-or-v1-", &HEX, 32, 80),
    form("openai-key", "sk-", &WORD, 32, 64),
    form("github-token", "ghp_", &WORD_, 30, 255),
    form("github-token", "gho_", &WORD_, 30, 255),
    form("github-token", "ghu_", &WORD_, 30, 255),
    form("github-token", "ghs_", &WORD_, 30, 255),
    form("github-token", "ghr_", &WORD_, 30, 255),
    form("github-token", "github_pat_", &WORD_, 36, 255),
    form("gitlab-token", "glpat-", &DOTS, 20, 80),
    form("gitlab-token", "gldt-", &DASH, 20, 80),
    form("gitlab-token", "glrt-", &DASH, 20, 80),
    form("gitlab-token", "glcbt-", &DASH, 20, 80),
    form("gitlab-token", "glptt-", &DASH, 20, 80),
    form("gitlab-token", "gloas-", &DASH, 20, 80),
    form("gitlab-token", "glsoat-", &DASH, 20, 80),
    form("gitlab-token", "GR1348941", &DASH, 20, 40),
    form("google-key", "AIza", &DASH, 35, 35),
    form("google-oauth-secret", "GOCSPX-", &DASH, 28, 28),
    form("google-oauth-token", "ya29.", &DASH, 20, 400),
    form("slack-token", "xoxb-", &DASH, 20, 120),
    form("slack-token", "xoxp-", &DASH, 20, 120),
    form("slack-token", "xoxa-", &DASH, 20, 120),
    form("slack-token", "xoxr-", &DASH, 20, 120),
    form("slack-token", "xoxs-", &DASH, 20, 120),
    form("slack-token", "xoxe.", &DOTS, 20, 250),
    form("slack-token", "xapp-", &DASH, 20, 150),
    form("slack-webhook", "hooks.slack.com/services/", &DIGITS_COLON, 30, 80),
    form("discord-webhook", "discord.com/api/webhooks/", &DIGITS_COLON, 40, 120),
    form("discord-webhook", "discordapp.com/api/webhooks/", &DIGITS_COLON, 40, 120),
    form("airtable-token", "pat", &DOTS, 79, 79),
    form("teams-webhook", "webhook.office.com/webhookb2/", &DIGITS_COLON, 40, 200),
    form("stripe-key", "sk_live_", &WORD_, 16, 120),
    form("stripe-key", "sk_test_", &WORD_, 16, 120),
    form("stripe-key", "rk_live_", &WORD_, 16, 120),
    form("stripe-key", "rk_test_", &WORD_, 16, 120),
    form("stripe-webhook-secret", "whsec_", &BASE64, 24, 80),
    form("square-token", "sq0atp-", &DASH, 20, 60),
    form("square-token", "sq0csp-", &DASH, 20, 60),
    form("square-token", "EAAA", &DASH, 50, 70),
    form("shopify-token", "shpat_", &HEX, 32, 32),
    form("shopify-token", "shpca_", &HEX, 32, 32),
    form("shopify-token", "shppa_", &HEX, 32, 32),
    form("shopify-token", "shpss_", &HEX, 32, 32),
    form("npm-token", "npm_", &WORD, 36, 36),
    form("pypi-token", "pypi-AgE", &DASH, 50, 300),
    form("rubygems-key", "rubygems_", &HEX, 48, 48),
    form("crates-token", "cio", &WORD, 32, 32),
    form("clojars-token", "CLOJARS_", &WORD, 60, 60),
    form("docker-token", "dckr_pat_", &DASH, 24, 60),
    form("docker-token", "dckr_oat_", &DASH, 24, 60),
    form("hugging-face-token", "hf_", &WORD, 30, 40),
    form("hugging-face-token", "api_org_", &WORD, 30, 40),
    form("replicate-token", "r8_", &WORD, 37, 37),
    form("groq-key", "gsk_", &WORD, 40, 60),
    form("xai-key", "xai-", &WORD, 70, 90),
    form("perplexity-key", "pplx-", &WORD, 40, 60),
    form("fireworks-key", "fw_", &WORD, 20, 40),
    form("sendgrid-key", "SG.", &DOTS, 50, 80),
    form("mailgun-key", "key-", &HEX, 32, 32),
    form("mailchimp-key", "mandrill-", &DASH, 20, 40),
    form("brevo-key", "xkeysib-", &DASH, 60, 100),
    form("resend-key", "re_", &WORD_, 24, 40),
    form("twilio-key", "SK", &HEX, 32, 32),
    form("twilio-account", "AC", &HEX, 32, 32),
    form("digitalocean-token", "dop_v1_", &HEX, 64, 64),
    form("digitalocean-token", "doo_v1_", &HEX, 64, 64),
    form("digitalocean-token", "dor_v1_", &HEX, 64, 64),
    form("heroku-key", "HRKU-", &DASH, 36, 70),
    form("fly-token", "fo1_", &DASH, 40, 60),
    form("fly-token", "FlyV1 fm", &DOTS, 40, 2000),
    form("vercel-token", "vercel_blob_rw_", &WORD_, 30, 80),
    form("netlify-token", "nfp_", &WORD, 36, 40),
    form("cloudflare-origin-key", "v1.0-", &DASH, 150, 200),
    form("databricks-token", "dapi", &HEX, 32, 34),
    form("snowflake-token", "ver:1-hint:", &DOTS, 20, 300),
    form("doppler-token", "dp.pt.", &WORD, 40, 44),
    form("doppler-token", "dp.st.", &DOTS, 40, 80),
    form("vault-token", "hvs.", &DASH, 24, 200),
    form("vault-token", "hvb.", &DASH, 24, 300),
    form("terraform-token", "atlasv1.", &DASH, 40, 80),
    form("pulumi-token", "pul-", &HEX, 40, 40),
    form("planetscale-token", "pscale_tkn_", &DOTS, 32, 64),
    form("planetscale-password", "pscale_pw_", &DOTS, 32, 64),
    form("supabase-token", "sbp_", &HEX, 40, 40),
    form("supabase-key", "sb_secret_", &DASH, 24, 60),
    form("neon-key", "napi_", &WORD, 50, 80),
    form("linear-key", "lin_api_", &WORD, 40, 40),
    form("notion-token", "ntn_", &WORD, 40, 60),
    form("notion-token", "secret_", &WORD, 43, 43),
    form("atlassian-token", "ATATT3", &DOTS, 100, 250),
    form("atlassian-token", "ATCTT3", &DOTS, 100, 250),
    form("bitbucket-token", "ATBB", &WORD, 32, 40),
    form("figma-token", "figd_", &DASH, 40, 60),
    form("postman-key", "PMAK-", &DASH, 50, 64),
    form("grafana-token", "glsa_", &WORD_, 40, 46),
    form("grafana-token", "glc_", &BASE64, 32, 400),
    form("grafana-key", "eyJrIjoi", &BASE64, 50, 400),
    form("sentry-token", "sntrys_", &DOTS, 40, 400),
    form("sentry-token", "sntryu_", &HEX, 64, 64),
    form("new-relic-key", "NRAK-", &UPPER, 27, 27),
    form("new-relic-key", "NRJS-", &HEX, 19, 19),
    form("dynatrace-token", "dt0c01.", &DOTS, 80, 100),
    form("artifactory-key", "AKCp", &WORD, 60, 80),
    form("artifactory-token", "cmVmd", &WORD, 59, 59),
    form("sonarqube-token", "sqp_", &WORD, 40, 40),
    form("sonarqube-token", "squ_", &WORD, 40, 40),
    form("buildkite-token", "bkua_", &WORD, 40, 40),
    form("circleci-token", "CCIPAT_", &WORD_, 40, 80),
    form("age-key", "AGE-SECRET-KEY-1", &UPPER, 58, 58),
    form("onepassword-token", "ops_eyJ", &BASE64, 200, 2000),
    form("onepassword-key", "A3-", &UPPER_DASH, 30, 40),
    form("telegram-token", "bot", &TELEGRAM, 40, 50),
    form("tailscale-key", "tskey-", &DASH, 20, 80),
    form("ngrok-token", "2ngrok_", &WORD_, 30, 60),
    form("azure-devops-token", "azdo_", &WORD, 52, 80),
    form("facebook-token", "EAACEdEose0cBA", &WORD, 20, 300),
    form("facebook-token", "EAAG", &WORD, 80, 300),
    form("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", &BEARER, 60, 120),
    form("adobe-secret", "p8e-", &WORD, 32, 32),
    form("contentful-token", "CFPAT-", &DASH, 43, 43),
    form("dropbox-token", "sl.", &DASH, 100, 200),
    form("duffel-token", "duffel_live_", &DASH, 43, 43),
    form("easypost-key", "EZAK", &WORD, 54, 54),
    form("flutterwave-key", "FLWSECK-", &DASH, 32, 50),
    form("frame-token", "fio-u-", &DASH, 64, 64),
    form("lob-key", "live_", &HEX, 35, 35),
    form("plaid-token", "access-production-", &DASH, 36, 36),
    form("prefect-key", "pnu_", &WORD, 36, 36),
    form("readme-key", "rdme_", &WORD, 70, 70),
    form("scalingo-token", "tk-us-", &DASH, 48, 48),
    form("shippo-token", "shippo_live_", &HEX, 40, 40),
    form("typeform-token", "tfp_", &DOTS, 59, 59),
    form("yandex-token", "y0_", &DASH, 50, 80),
    form("yandex-key", "AQVN", &DASH, 35, 40),
];

static TELEGRAM: Class = Class::of("A-Za-z0-9_:-");
static BEARER: Class = Class::of("A-Za-z0-9%");

/// The forms by their first byte, made by the compiler: the first one of each byte, and the next one of each form, both from 1,
/// where 0 is the end. Most places of a text are ruled out by one look.
static FIRST: ([u8; 256], [u8; FORMS.len()]) = first();

#[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "it runs when this is compiled")]
const fn first() -> ([u8; 256], [u8; FORMS.len()]) {
    assert!(FORMS.len() < 255, "an index is a byte");
    let (mut first, mut next) = ([0; 256], [0; FORMS.len()]);
    let mut at = FORMS.len();
    // From the end, so that those that stand first are met first.
    while at > 0 {
        at -= 1;
        let byte = FORMS[at].start.as_bytes()[0] as usize;
        next[at] = first[byte];
        first[byte] = at as u8 + 1;
    }
    (first, next)
}

/// The kind and the length of the token at the start of a text.
pub(crate) fn at(text: &[u8]) -> Option<(&'static str, usize)> {
    let (first, next) = &FIRST;
    let mut index = usize::from(*first.get(usize::from(*text.first()?))?);
    while let Some(at) = index.checked_sub(1) {
        let form = FORMS.get(at)?;
        if let Some(length) = length(form, text) {
            return Some((form.name, length));
        }
        index = usize::from(*next.get(at)?);
    }
    None
}

fn length(form: &Form, text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(form.start.as_bytes())?;
    let length = form.letters.run(rest, form.most + 1);
    let secret = rest.get(..length)?;
    // A longer run is something else, where the length is fixed.
    let fits = length >= form.least && length <= form.most && entropy(secret) >= form.entropy;
    (fits && has_both(form, secret)).then_some(form.start.len() + length)
}

/// Words of a language have no digits; short beginnings need some.
fn has_both(form: &Form, secret: &[u8]) -> bool {
    form.start.len() > 5 || secret.iter().any(u8::is_ascii_digit)
}
