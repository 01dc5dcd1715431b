import Foundation

@testable import MobileClient

extension PhoneAPI {
    /// A request with the sign-in that its bearer is of.
    struct Call {
        let request: TransportRequest
        let body: Data
        let now: Date
        let bearer: String
        var signIn: Int?
        var user: String?

        init(_ request: TransportRequest, _ body: Data, _ now: Date, _ state: inout Contents) {
            (self.request, self.body, self.now) = (request, body, now)
            bearer = String(request.headers["authorization"]?.dropFirst("Bearer ".count) ?? "")
            signIn = state.signIns.firstIndex { [bearer] in
                $0.isAlive && $0.access == bearer && now < $0.renewedAt + PhoneAPI.lifetime
            }
            user = signIn.map { state.signIns[$0].user }
            // A Firebase ID token names its person.
            if bearer.hasPrefix("firebase-") { user = String(bearer.dropFirst("firebase-".count)) }
        }

        /// The public key of the proof; nil without a proof.
        var deviceKey: String? {
            request.headers["DPoP"].flatMap(SentProof.init)?.publicKey
        }

        /// The refusal of a request without a proof of the key that it needs.
        func refusal(of needed: String?) -> TransportResponse? {
            guard let needed, deviceKey != needed else { return nil }
            return deviceKey == nil ? .failure(401, "device_key_required") : .failure(401, "invalid_dpop_proof", field: "jwk")
        }

        var key: String { request.headers["x-request-id"] ?? "" }

        /// A field of a form.
        func field(_ name: String) -> String? {
            let text = String(decoding: body, as: UTF8.self)
            guard let start = text.range(of: "name=\"\(name)\"\r\n\r\n")?.upperBound else { return nil }
            return text[start...].range(of: "\r\n").map { String(text[start..<$0.lowerBound]) }
        }

        func member(_ name: String) -> String? { (try? JSONDecoder().decode([String: String?].self, from: body))?[name] ?? nil }
    }
}
