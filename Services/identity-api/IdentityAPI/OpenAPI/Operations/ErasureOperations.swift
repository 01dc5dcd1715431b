internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import Storage
internal import WireFormat

extension APIOperation {
    /// Erasures of accounts and faces, and their receipts.
    static let erasures: [APIOperation] = [
        APIOperation(
            method: .delete, path: "/v1/users/me", id: "eraseAccount", area: .people,
            summary: "Erases the account and everything that is kept of one. Needs a sign-in of the last five minutes", bearers: [.access],
            parameters: [.installation], replies: [begun], errors: [.reauthenticationRequired, .requestInProgress],
            repetition: "401: the account is closed", handler: { $0.people.erasures.eraseAccount }),
        APIOperation(
            method: .delete, path: "/v1/users/me/face", id: "eraseFace", area: .people,
            summary: "Erases the face and everything made from it; the account stays. Needs a sign-in of the last five minutes",
            bearers: [.access], parameters: [.installation], replies: [begun], errors: [.reauthenticationRequired, .requestInProgress],
            repetition: "409 while it is under way", handler: { $0.people.erasures.eraseFace }),
        APIOperation(
            method: .get, path: "/v1/users/me/erasure/{id}", id: "getErasure", area: .people,
            summary: "What each service has erased and, in the end, the signed receipt", bearers: [.receipt],
            parameters: [.id("id", "The erasure's id")], replies: [.data(erasure, "The erasure", example: erased)], errors: [.notFound],
            handler: { $0.people.erasures.status }),
        APIOperation(
            method: .get, path: "/.well-known/jwks.json", id: "getReceiptKeys", area: .people,
            summary: "The public keys by which receipts are verified, a JSON Web Key Set (RFC 7517)",
            replies: [.bare(.object(["keys": .array(of: .map(of: .text))]), "The keys", example: ["keys": [receiptKey]])],
            handler: { routes in { _, _ in Answer.json(routes.receiptKeys) } }),
        APIOperation(
            method: .delete, path: "/v1/users/{user}", id: "eraseUser", area: .notifications,
            summary: "Erases an account, as its owner's request does", bearers: [.key(scope: ServiceScope.eraseUsers.rawValue)],
            parameters: [.id("user", "The user's id")], replies: [begun], errors: [.notFound],
            repetition: "404: it is under way", handler: { $0.people.erasures.eraseUser }),
    ]

    private static let begun = APIReply.data(
        .object(["erasure_id": .uuid, "receipt_token": .text, "receipt_url": .text]), status: 202, "The erasure began",
        links: [APILink(operation: "getErasure", parameter: "id", member: "erasure_id")])

    /// A key as ``ErasureReceiptKey`` gives it.
    private static let receiptKey: JSONValue = [
        "kty": "OKP", "crv": "Ed25519", "x": "nLqP-IeWrlsF8oCmjO2TtrKMsNGzWOa6q0hVZbn0kCg", "alg": "EdDSA", "use": "sig",
        "kid": "GTd7FguoV8FWnFbB0JxXuj",
    ]

    private static let erased: JSONValue = [
        "state": "completed", "completed_at": "2025-10-27T10:01:00Z",
        "services": .array(
            UserErased.groups.sorted().map { service in
                [
                    "service": .string(service), "finished": true,
                    "erased": service == IdentityAPI.name ? ["access_tokens": 1, "sessions": 2, "users": 1] : .object([]),
                ]
            }),
        "receipt": "eyJhbGciOiJFZERTQSJ9.e30.c2ln",
    ]

    private static let erasure = JSONSchema.object([
        "erasure_id": .uuid, "scope": .one(of: ErasureScope.self), "state": .one(of: ["erasing", "completed"]),
        "requested_at": .instant, "completed_at": .instant.orNull,
        "services": .array(of: .object(["service": .text, "finished": .boolean, "erased": .map(of: .count)])),
        "receipt": .text.orNull,
    ])
}
