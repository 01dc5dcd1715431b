import FoundationEssentials
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// `POST /token`: a signed assertion for an access token.
struct TokenRoute: Sendable {
    let core: EmulatorCore

    func respond(_ request: Request, _ context: EmulatorContext) async throws -> Response {
        core.connections.add(context.connection)
        let limit = core.configuration.limits.bodyBytes
        guard let body = try? await request.body.collect(upTo: limit) else {
            return Answer.refusal(.payloadTooLarge(limit: limit))
        }
        if let fault = core.faults.take(.token, registration: nil) {
            let injector = FaultInjector(core: core, context: context, project: core.configuration.projectID)
            try await injector.delay(fault)
            if let response = try await injector.answer(fault) { return response }
        }
        guard let verifier = core.verifier else { return Answer.html(status: 503) }
        let now = core.configuration.now()
        do throws(OAuthRefusal) {
            try verifier.verify(form: Self.form(String(buffer: body)), now: now)
        } catch {
            core.logger.info("assertion refused", metadata: ["reason": "\(error.description)"])
            return Answer.json(error.body, status: 400)
        }
        let lifetime = core.configuration.accessTokenLifetimeSeconds
        let token = core.accessTokens.issue(expires: now.addingTimeInterval(Double(lifetime)))
        return Answer.json([
            "access_token": .string(token), "expires_in": JSONValue(lifetime), "token_type": "Bearer",
        ])
    }

    /// Reads `application/x-www-form-urlencoded`.
    static func form(_ text: String) -> [String: String] {
        var form: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentCoding.decode(parts[0], plusIsSpace: true) else { continue }
            form[name] = parts.count > 1 ? PercentCoding.decode(parts[1], plusIsSpace: true) : ""
        }
        return form
    }
}

/// Percent-encoding of URLs and forms.
enum PercentCoding {
    /// The text with its escapes resolved; nil when it is not UTF-8 then, or an escape is cut short.
    static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard rest.count >= 2,
                    let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
