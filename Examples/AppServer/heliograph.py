"""Calls Heliograph's API with the API key of an app: notifications, erasures and their receipts."""

import base64, hashlib, http.client, json, random, ssl, time, uuid
import urllib.error, urllib.parse, urllib.request

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


class APIError(Exception):
    """A request that has failed: with a code of docs/api/errors.md, with `http_…` of a proxy, or with `no_answer`."""

    def __init__(self, code, message, *, retryable=False, retry_after=0, request_id=None):
        super().__init__(f"{code}: {message}" + (f" (request {request_id})" if request_id else ""))
        self.code, self.retryable, self.retry_after, self.attempts = code, retryable, retry_after, 1

    @classmethod
    def of(cls, answer):
        """Reads an answer of the API, or of a proxy in front of it."""
        try:
            body = json.loads(answer.read(1 << 16))
            error, request_id = body["error"], body["meta"]["requestId"]
            message = body["message"] + (f" ({error['field']})" if error.get("field") else "")
            return cls(error["code"], message, retryable=error["retryable"], retry_after=error["retry_after"], request_id=request_id)
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
            seconds = answer.headers.get("Retry-After", "")
            return cls(f"http_{answer.code}", "this is no answer of the API", retryable=answer.code in (408, 429, 500, 502, 503, 504),
                       retry_after=int(seconds) if seconds.isdecimal() else 0)


class InvalidReceipt(Exception):
    """A receipt that proves nothing."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The API has no redirects: one would take the API key to another server."""

    def redirect_request(self, *_):
        return None


class Heliograph:
    """The API for an app's own server.

    A request that fails for a time is repeated until `patience` seconds have passed. `timeout` limits each silence of the server.
    """

    def __init__(self, url, key, *, issuer=None, timeout=10, patience=60):
        if not url.startswith("https:") and urllib.parse.urlsplit(url).hostname not in ("localhost", "127.0.0.1", "::1"):
            raise ValueError("the URL must begin with https://, or the network can read the API key")
        self._url, self._key, self._issuer = url.rstrip("/"), key, issuer or url.rstrip("/")
        self._timeout, self._patience = timeout, patience
        self._opener = urllib.request.build_opener(_NoRedirects)

    def notify(self, kind, *, dedupe_key, user_ids=None, topic=None, not_before=None, **fields):
        """Sends a notification to users or to a topic, at once or at the time `not_before`.

        The key names the cause. A second call with the same key, such as after a crash, has no effect and returns the same.
        """
        at = not_before and not_before.astimezone().isoformat()
        body = {"kind": kind, "dedupe_key": dedupe_key, "user_ids": user_ids, "topic": topic, "not_before": at, **fields}
        return self._call("POST", "/v1/notifications", body)

    def notification(self, notification_id):
        """Returns the state of a notification, and the numbers of its pushes and of the receipts of phones."""
        return self._call("GET", "/v1/notifications/" + urllib.parse.quote(notification_id, safe=""))

    def cancel(self, notification_id):
        """Cancels a notification that is not due. `already_sent`: it is too late."""
        self._call("DELETE", "/v1/notifications/" + urllib.parse.quote(notification_id, safe=""))

    def erase(self, user_id):
        """Closes an account and begins its erasure. Store the returned object at once: no other answer has its `receipt_token`."""
        try:
            return self._call("DELETE", "/v1/users/" + urllib.parse.quote(user_id, safe=""))
        except APIError as error:
            if error.code == "not_found" and error.attempts > 1:
                raise APIError("not_found", "a lost attempt may have begun the erasure: an operator has its receipt") from error
            raise

    def receipt(self, erasure):
        """Returns the signed receipt of an erasure; None while it is under way, which takes half a minute and longer."""
        return self._call("GET", erasure["receipt_url"], bearer=erasure["receipt_token"])["receipt"]

    def verify(self, receipt, user_id):
        """Returns the claims of a receipt. Raises InvalidReceipt unless this installation has signed it, for the account `user_id`."""
        try:
            header, payload, signature = (_decoded(part) for part in receipt.split("."))
            header = json.loads(header)
            if (header["alg"], header["typ"]) != ("EdDSA", "erasure-receipt+jwt"):
                raise InvalidReceipt("it is another kind of token")
            keys = {key["kid"]: key["x"] for key in self._call("GET", "/.well-known/jwks.json", bearer=None)["keys"]}
            if header["kid"] not in keys:
                raise InvalidReceipt("its key is unknown: if the operator has replaced the key, fetch the receipt again")
            key = Ed25519PublicKey.from_public_bytes(_decoded(keys[header["kid"]]))
            key.verify(signature, receipt.rpartition(".")[0].encode())
            claims, subject = json.loads(payload), hashlib.sha256(uuid.UUID(user_id).bytes).hexdigest()
            if (claims["iss"], claims["erasure"]["scope"], claims["erasure"]["subject_hash"]) != (self._issuer, "account", subject):
                raise InvalidReceipt("it is of another installation, of another account, or of a face alone")
            return claims
        except InvalidSignature:
            raise InvalidReceipt("its signature is wrong") from None
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidReceipt(f"it is malformed: {error!r}") from error

    def _call(self, method, path, body=None, **bearer):
        end, attempts = time.monotonic() + self._patience, 1
        while True:
            try:
                return self._send(method, path, body, **bearer)
            except APIError as error:
                error.attempts = attempts
                # At random, so that servers that have failed together do not come back together.
                pause = error.retry_after + random.uniform(0, min(2**attempts / 4, 10))
                if not error.retryable or time.monotonic() + pause > end:
                    raise
            time.sleep(pause)
            attempts += 1

    def _send(self, method, path, body, bearer=""):
        headers = {} if bearer is None else {"Authorization": f"Bearer {bearer or self._key}"}
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(self._url + path, data, {"Content-Type": "application/json", **headers}, method=method)
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                answer = json.loads(response.read(1 << 20) or "{}")
        except urllib.error.HTTPError as error:
            raise APIError.of(error) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            cause = getattr(error, "reason", error)
            raise APIError("no_answer", repr(cause), retryable=not isinstance(cause, ssl.SSLCertVerificationError)) from error
        return answer.get("data", answer)


def _decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
