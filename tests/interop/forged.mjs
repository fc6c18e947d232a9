// Forged keyless bundles and two good ones, from an authority and logs whose keys are thrown away.
// Usage: node forged.mjs > host/registry/src/signature/published/forged.json
import crypto from 'node:crypto';
import mock from '@sigstore/mock';

const pair = () => crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' });
const der = (key) => key.export({ format: 'der', type: 'spki' });
const base64 = (bytes) => Buffer.from(bytes).toString('base64');
const sha256 = (bytes) => crypto.createHash('sha256').update(bytes).digest();
const issuer = 'https://token.actions.example';
const identity = 'https://github.com/acme/guard/.github/workflows/release.yml@refs/tags/v1.0';
const digest = sha256('the manifest of an artifact');
const signing = new Date('2025-06-01T12:00:00Z');
const minutes = (count) => new Date(signing.getTime() + count * 60_000);

const [authority, certificates, log] = [pair(), pair(), pair()];
const ctLog = await mock.initializeCTLog(certificates);
const oid = '1.3.6.1.4.1.57264.1.8';

// A certificate of ten minutes from `from`, and its private key.
async function certified({ from = signing, logged = true, by = authority, ctLog: certificateLog = ctLog, vouched = issuer } = {}) {
  const ca = await mock.initializeCA(by, logged ? certificateLog : undefined, from);
  const { publicKey, privateKey } = pair();
  const certificate = await ca.issueCertificate({
    publicKey: der(publicKey), subjectAltName: identity, extensions: vouched ? [{ oid, value: vouched }] : [],
  });
  return { certificate, privateKey };
}

// A bundle: a statement about `subject`, signed, and logged at `time`.
async function bundle(signer, { subject = digest, time = signing, tlog = log } = {}) {
  const payload = Buffer.from(JSON.stringify({
    _type: 'https://in-toto.io/Statement/v1', subject: [{ digest: { sha256: subject.toString('hex') } }],
    predicateType: 'https://sigstore.dev/cosign/sign/v1', predicate: {},
  }));
  const payloadType = 'application/vnd.in-toto+json';
  const encoded = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload]);
  const sig = base64(crypto.sign('sha256', encoded, signer.privateKey));
  const envelope = { payload: base64(payload), payloadType, signatures: [{ sig }] };
  const pem = `-----BEGIN CERTIFICATE-----\n${base64(signer.certificate).replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`;
  const hash = (bytes) => ({ algorithm: 'sha256', value: sha256(bytes).toString('hex') });
  const entries = await (await mock.initializeTLog('https://log.example', tlog, time)).log({
    apiVersion: '0.0.1', kind: 'dsse',
    spec: { envelopeHash: hash(JSON.stringify(envelope)), payloadHash: hash(payload), signatures: [{ signature: sig, verifier: base64(pem) }] },
  });
  const [entry] = Object.values(entries);
  const { inclusionProof: proof, signedEntryTimestamp } = entry.verification;
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: {
      certificate: { rawBytes: base64(signer.certificate) },
      tlogEntries: [{
        logIndex: String(entry.logIndex), logId: { keyId: Buffer.from(entry.logID, 'hex').toString('base64') },
        kindVersion: { kind: 'dsse', version: '0.0.1' }, integratedTime: String(entry.integratedTime),
        inclusionPromise: { signedEntryTimestamp },
        inclusionProof: {
          logIndex: String(proof.logIndex), treeSize: String(proof.treeSize), hashes: proof.hashes,
          rootHash: Buffer.from(proof.rootHash, 'hex').toString('base64'), checkpoint: { envelope: proof.checkpoint },
        },
        canonicalizedBody: entry.body,
      }],
    },
    dsseEnvelope: envelope,
  };
}

const key = (publicKey) => ({
  baseUrl: 'https://log.example', hashAlgorithm: 'SHA2_256', logId: { keyId: base64(sha256(der(publicKey))) },
  publicKey: { rawBytes: base64(der(publicKey)), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor: { start: '2024-01-01T00:00:00Z' } },
});
const ca = await mock.initializeCA(authority, ctLog, signing);
const trustedRoot = {
  mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
  tlogs: [key(log.publicKey)], ctlogs: [key(certificates.publicKey)], timestampAuthorities: [],
  certificateAuthorities: [{
    subject: { organization: 'sigstore.mock', commonName: 'sigstore' }, uri: 'https://authority.example',
    certChain: { certificates: [{ rawBytes: base64(ca.rootCertificate) }] }, validFor: { start: '2024-01-01T00:00:00Z' },
  }],
};

const good = await certified();
const otherLog = await bundle(good, { tlog: pair() });
const forged = {
  'a certificate that was expired when the log took the entry': await bundle(good, { time: minutes(11) }),
  'a certificate that was not yet valid when the log took the entry': await bundle(good, { time: minutes(-1) }),
  'a certificate that is in no certificate log': await bundle(await certified({ logged: false })),
  'a certificate in another certificate log': await bundle(await certified({ ctLog: await mock.initializeCTLog(pair()) })),
  'a certificate of another authority': await bundle(await certified({ by: pair() })),
  'a certificate without an issuer': await bundle(await certified({ vouched: '' })),
  'a certificate of an issuer whose name ends with a slash': await bundle(await certified({ vouched: `${issuer}/` })),
  'a certificate of an issuer in capitals': await bundle(await certified({ vouched: issuer.toUpperCase() })),
  'an entry in another transparency log': otherLog,
  'a statement about another digest': await bundle(good, { subject: sha256('another manifest') }),
};
const signed = [await bundle(good), await bundle(await certified())];
const [entry, other] = [signed[0], otherLog].map((from) => structuredClone(from.verificationMaterial.tlogEntries[0]));
forged['an entry in another log that claims to be in this one'] = structuredClone(otherLog);
forged['an entry in another log that claims to be in this one'].verificationMaterial.tlogEntries = [{ ...other, logId: entry.logId }];
const outcome = { trustedRoot, issuer, identity, digest: `sha256:${digest.toString('hex')}`, signed, forged };
process.stdout.write(`${JSON.stringify(outcome)}\n`);
