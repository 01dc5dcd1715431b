internal import Accounts
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import ServiceDefaults
internal import WireFormat

extension APIOperation {
    /// Erasures of accounts and faces, and their receipts.
    static let erasures: [APIOperation] = [
        APIOperation(
            .delete, "/v1/users/me", id: "eraseAccount", area: .people,
            summary: "Erases the account and everything that is kept of one. Needs a sign-in of the last five minutes",
            from: .user(.requests, recently: true), reply: .begun, errors: [.requestInProgress],
            repetition: "401: the account is closed", handler: { $0.people.erasures.eraseAccount }),
        APIOperation(
            .delete, "/v1/users/me/face", id: "eraseFace", area: .people,
            summary: "Erases the face and everything made from it; the account stays. Needs a sign-in of the last five minutes",
            from: .user(.requests, recently: true), reply: .begun, errors: [.requestInProgress],
            repetition: "409 while it is under way", handler: { $0.people.erasures.eraseFace }),
        APIOperation(
            .get, APITarget("/v1/users/me/erasure/{id}", .id("id", "The erasure's id", or: .erasureNotFound)), id: "getErasure",
            area: .people, summary: "What each service has erased and, in the end, the signed receipt", from: .holder(of: .receipt),
            reply: .data("The erasure", cacheControl: "no-store", example: erased), errors: [.notFound],
            handler: { $0.people.erasures.status }),
        APIOperation(
            .get, "/.well-known/jwks.json", id: "getReceiptKeys", area: .people,
            summary: "The public keys by which receipts are verified, a JSON Web Key Set (RFC 7517)", from: .anyone(),
            reply: .bare("The keys", example: ["keys": [receiptKey]]), handler: { $0.people.erasures.keys }),
        APIOperation(
            .delete, APITarget("/v1/users/{user}", .id("user", "The user's id", or: .userNotFound)), id: "eraseUser",
            area: .notifications, summary: "Erases an account, as its owner's request does", from: .service(.eraseUsers), reply: .begun,
            errors: [.notFound], repetition: "404: it is under way", handler: { $0.people.erasures.eraseUser }),
    ]

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
}

extension APIResult<ErasureRequest> {
    fileprivate static let begun = data(
        "The erasure began", status: .accepted, links: [APILink(operation: "getErasure", parameter: "id", member: "erasure_id")],
        cacheControl: "no-store")
}
