// A certificate authority, a certificate log and a transparency log on loopback, with keys of their own, for real clients of
// Sigstore. Usage: node sigstore.mjs FOLDER. Writes what a trusted root is made of, an identity token and `url` to FOLDER.
import crypto from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import mock from '@sigstore/mock';

const folder = process.argv[2];
const pair = () => crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = (key) => key.export({ format: 'pem', type: 'spki' });
const base64url = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

const [authority, certificates, log] = [pair(), pair(), pair()];
const certificateLog = await mock.initializeCTLog(certificates);
const ca = await mock.initializeCA(authority, certificateLog);
let handlers = [];

const sha256 = (data) => ({ algorithm: 'sha256', value: crypto.createHash('sha256').update(data).digest('hex') });

// Puts requests into the form that the mock reads: cosign sends the token as a header, and the real log replaces an envelope by
// its digests.
function asMocked(body, headers) {
  const json = JSON.parse(body);
  if (headers.authorization) json.credentials = { oidcIdentityToken: headers.authorization.replace('Bearer ', '') };
  const proposed = json.spec?.proposedContent;
  if (proposed) {
    const envelope = JSON.parse(proposed.envelope);
    const signatures = envelope.signatures.map(({ sig }, at) => ({ signature: sig, verifier: proposed.verifiers[at] }));
    const payloadHash = sha256(Buffer.from(envelope.payload, 'base64'));
    json.spec = { envelopeHash: sha256(proposed.envelope), payloadHash, signatures };
  }
  return JSON.stringify(json);
}

const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', async () => {
    const handler = handlers.find(({ path }) => request.method === 'POST' && request.url === path);
    const body = Buffer.concat(parts).toString();
    const answer = handler ? await handler.fn(asMocked(body, request.headers)) : { statusCode: 404, response: '' };
    // The real authority answers 200, and cosign takes no other.
    const status = answer.statusCode === 201 && request.headers.authorization ? 200 : answer.statusCode;
    const etag = request.url.endsWith('/entries') ? { etag: Object.keys(JSON.parse(answer.response))[0] } : {};
    response.writeHead(status, { 'content-type': answer.contentType ?? 'text/plain', ...etag });
    response.end(answer.response);
  });
});
server.listen(0, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  const transparency = await mock.initializeTLog(url, log);
  handlers = [mock.fulcioHandler(ca), mock.rekorHandler(transparency)];
  const root = Buffer.from(ca.rootCertificate.buffer).toString('base64');
  writeFileSync(join(folder, 'fulcio.pem'), `-----BEGIN CERTIFICATE-----\n${root.replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`);
  writeFileSync(join(folder, 'ctfe.pub'), pem(certificates.publicKey));
  writeFileSync(join(folder, 'rekor.pub'), pem(log.publicKey));
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: 'https://token.actions.example', aud: 'sigstore', iat: now, exp: now + 600,
    sub: 'https://github.com/acme/guard/.github/workflows/release.yml@refs/tags/v1.0',
    repository: 'acme/guard', ref: 'refs/tags/v1.0', sha: '0123456789abcdef0123456789abcdef01234567',
  };
  writeFileSync(join(folder, 'token'), `${base64url({ alg: 'none', typ: 'JWT' })}.${base64url(claims)}.${base64url({})}`);
  writeFileSync(join(folder, 'url'), url);
});
