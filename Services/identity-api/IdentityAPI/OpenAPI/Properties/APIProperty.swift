internal import JSON

/// The document's description of a member of a body, or of a field of a form, by its name.
struct APIProperty: Sendable {
    let summary: String
    /// A value as a client sends or gets it; nil when its schema has one, such as a number, or the first of an enumeration.
    let example: JSONValue?

    init(_ summary: String, _ example: JSONValue? = nil) {
        (self.summary, self.example) = (summary, example)
    }

    /// Returns the note of a member. Where one word means several things, its key has the outer member, or the request, or both.
    static func note(of name: String, under parent: String, in operation: String) -> APIProperty? {
        all["\(operation).\(parent).\(name)"] ?? all["\(parent).\(name)"] ?? all["\(operation).\(name)"] ?? all[name]
    }

    /// All notes, by names.
    static let all: [String: APIProperty] = [answers, accounts, faces, pictures, people, notifications]
        .reduce(into: [:]) { $0.merge($1) { first, _ in first } }

    /// A registration token in the form of FCM's.
    static let pushToken: JSONValue = .string(
        "GTd7FguoV8FWnFbB0JxXuj:APA91br4qqaaABvvLOzAxzXMcU1vsHiQMaRiNTN9Ox98whGcTZc1UWb5fxzpF7STG7nVLe3lARUsRJlNONwktN9ugkZeESG61she_QAqq"
            + "0nv3Vth1Ls6v6-O9JL8ZsoWw_Rxl-IUiTe")

    private static let answers: [String: APIProperty] = [
        "success": .init("Whether the request was served: false in every error"),
        "code": .init("The number of the answer: 0, or that of the error"),
        "message": .init("One sentence for the log, not for the screen", "Done"),
        "signUp.message": .init("One sentence, always the same", "Photos uploaded successfully"),
        "signIn.message": .init("One sentence, always the same", "Login event published successfully"),
        "orderPicture.data.message": .init(
            "One sentence for the person", "Processing started. You will receive a notification when complete."),
        "getSession.message": .init("One sentence, always the same", "Session found"),
        "logOut.message": .init("One sentence, always the same", "Logged out"),
        "data": .init("What was asked for"),
        "meta": .init("The id and the time of the answer"),
        "requestId": .init("The request's id, as in the header `X-Request-ID` and in the logs", "0f9e3a52-7c1d-4c1e-9d0a-5b2f8e6a1c34"),
        "timestamp": .init("When the answer was made"),
        "error": .init("What is wrong"),
        "Failure.code": .init("The published number of the error", 1_000),
        "error.code": .init("The published name of the error"),
        "retryable": .init(
            "Whether the app may repeat the same request by itself, after `retry_after`; false where a person has to act or to wait, such "
                + "as for the end of a lock"),
        "retry_after": .init("Seconds after which such a request can succeed; 0 for none"),
        "field": .init("The field of the request that is wrong", "email"),
        "detail": .init("One sentence for a person who reads logs", "The field is missing"),
        "instance": .init("The request's id as a URN", "urn:uuid:0f9e3a52-7c1d-4c1e-9d0a-5b2f8e6a1c34"),
        "errors": .init("What is wrong"),
        "Problem.type": .init("The address of the error's description", "about:blank"),
        "Problem.title": .init("The name of the status", "Bad Request"),
        "Problem.status": .init("The status of the answer", 400),
        "next_cursor": .init("The `cursor` of the next page; null or missing on the last one", "b6c9d1f4-2f0e-4a43-8a87-0f6b3a1c9d2e"),
        "state": .init("How far it is"),
        "status": .init("How far it is"),
        "created_at": .init("When it was made"),
        "expires_at": .init("When it ends, and is deleted later", "2025-10-28T10:00:00Z"),
        "completed_at": .init("When it ended; null or missing before", "2025-10-27T10:00:12Z"),
    ]
}
