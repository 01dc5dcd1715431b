internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import WireFormat

extension APIOperation {
    /// Accounts: the owner's view, and the sign-ins.
    static let accounts: [APIOperation] = [
        APIOperation(
            .get, "/v1/users/me", id: "getAccount", area: .people, summary: "One's account, and how much belongs to it",
            from: .user(.requests), reply: .data("The account", cacheControl: "no-store"), handler: { $0.people.profile.get }),
        APIOperation(
            .put, "/v1/users/me", id: "setDisplayName", area: .people,
            summary: "Sets the title of the pushes of one's messages; null: none", from: .user(.changes), reply: .data("The account"),
            handler: { $0.people.profile.put }),
        APIOperation(
            .get, "/v1/users/me/export", id: "exportAccount", area: .people,
            summary: "A ZIP archive of everything that is kept of one. Needs a sign-in of the last five minutes",
            from: .watchedUser(nil, recently: true), reply: .response(.bytes(["application/zip"], "The archive")),
            errors: [.requestInProgress],
            repetition: "counts as another export", handler: { $0.people.export.get }),
        APIOperation(
            .put, "/v1/users/me/email", id: "changeEmail", area: .people,
            summary: "Mails a code to another address, which counts once the code is entered. Needs a sign-in of the last five minutes",
            from: .user(.changes, recently: true), reply: .begunVerification, errors: [.invalidEmail], repetition: "another mail",
            handler: { $0.people.email.put }),
        APIOperation(
            .get, "/v1/users/me/recovery", id: "getRecovery", area: .people,
            summary: "Whether the face is about to be replaced by a recovery, and when", from: .user(.requests),
            reply: .data("The recovery", example: ["state": "waiting", "takes_effect_at": "2025-10-28T10:00:00Z"]),
            handler: { $0.people.recovery.get }),
        APIOperation(
            .delete, "/v1/users/me/recovery", id: "cancelRecovery", area: .people, summary: "Cancels a recovery",
            from: .user(.requests), reply: .noContent("No recovery waits"), handler: { $0.people.recovery.cancel }),
        APIOperation(
            .get, "/v1/users/me/sessions", id: "listSignIns", area: .people,
            summary: "The devices on which one is signed in; `current` is the one that asks", from: .user(.requests),
            reply: .data("The sign-ins", in: "sessions"), handler: { $0.people.signIns.list }),
        APIOperation(
            .delete, APITarget("/v1/users/me/sessions", .keepsCurrentSignIn), id: "endSignIns", area: .people,
            summary: "Signs all devices out; with `except=current` all others", from: .user(.requests),
            reply: .noContent("The devices are signed out"), handler: { $0.people.signIns.endAll }),
        APIOperation(
            .delete, APITarget("/v1/users/me/sessions/{id}", .id("id", "The sign-in's id", or: .signInNotFound)), id: "endSignIn",
            area: .people, summary: "Signs a device out", from: .user(.requests), reply: .noContent("The device is signed out"),
            errors: [.notFound], handler: { $0.people.signIns.end }),
    ]
}

extension APIArgument<Bool> {
    /// Whether the current sign-in stays when the others end: the query `except`.
    fileprivate static let keepsCurrentSignIn = APIArgument(
        APIParameter(name: "except", place: .query, schema: .one(of: ["current"]), summary: "The sign-in to keep")
    ) { request, _ throws(APIError) in
        guard let except = request.query("except") else { return false }
        guard except == "current" else {
            throw APIError(.invalidRequest, "The sessions to keep are \"current\" or none", field: "except")
        }
        return true
    }
}
