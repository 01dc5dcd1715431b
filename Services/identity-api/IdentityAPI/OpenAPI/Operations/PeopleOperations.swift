internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import Storage
internal import WireFormat

extension APIOperation {
    /// Accounts: the owner's view, the sign-ins, and the lists of blocks and contacts.
    static let people: [APIOperation] = accounts + blocks + contacts + [reportUser]

    private static let accounts: [APIOperation] = [
        APIOperation(
            method: .get, path: "/v1/users/me", id: "getAccount", area: .people, summary: "One's account, and how much belongs to it",
            bearers: [.access], parameters: [.installation], replies: [.data(account, "The account")], handler: { $0.people.profile.get }),
        APIOperation(
            method: .put, path: "/v1/users/me", id: "setDisplayName", area: .people,
            summary: "Sets the title of the pushes of one's messages; null: none", bearers: [.access], parameters: [.installation],
            body: .json(.object(["display_name": .displayName.orNull]), upTo: ProfileController.maxBodyBytes),
            replies: [.data(.object(["user_id": .uuid, "display_name": .text.orNull]), "The account")],
            handler: { $0.people.profile.put }),
        APIOperation(
            method: .get, path: "/v1/users/me/export", id: "exportAccount", area: .people,
            summary: "A ZIP archive of everything that is kept of one. Needs a sign-in of the last five minutes", bearers: [.access],
            parameters: [.installation], replies: [.bytes(["application/zip"], "The archive")],
            errors: [.reauthenticationRequired, .requestInProgress],
            repetition: "counts as another export", handler: { $0.people.export.get }),
        APIOperation(
            method: .put, path: "/v1/users/me/email", id: "changeEmail", area: .people,
            summary: "Mails a code to another address, which counts once the code is entered. Needs a sign-in of the last five minutes",
            bearers: [.access], parameters: [.installation],
            body: .json(.object(["email": .text(3...254)]), upTo: EmailController.maxBodyBytes), replies: [verification],
            errors: [.invalidEmail, .reauthenticationRequired], repetition: "another mail", handler: { $0.people.email.put }),
        APIOperation(
            method: .get, path: "/v1/users/me/recovery", id: "getRecovery", area: .people,
            summary: "Whether the face is about to be replaced by a recovery, and when", bearers: [.access], parameters: [.installation],
            replies: [
                .data(
                    .object(["state": .one(of: ["none", "waiting"])], optional: ["takes_effect_at": .instant]), "The recovery",
                    example: ["state": "waiting", "takes_effect_at": "2025-10-28T10:00:00Z"])
            ],
            handler: { $0.people.recovery.get }),
        APIOperation(
            method: .delete, path: "/v1/users/me/recovery", id: "cancelRecovery", area: .people, summary: "Cancels a recovery",
            bearers: [.access], parameters: [.installation], replies: [.noContent("No recovery waits")],
            handler: { $0.people.recovery.cancel }),
        APIOperation(
            method: .get, path: "/v1/users/me/sessions", id: "listSignIns", area: .people,
            summary: "The devices on which one is signed in; `current` is the one that asks", bearers: [.access],
            parameters: [.installation], replies: [.data(.object(["sessions": .array(of: signIn)]), "The sign-ins")],
            handler: { $0.people.signIns.list }),
        APIOperation(
            method: .delete, path: "/v1/users/me/sessions", id: "endSignIns", area: .people,
            summary: "Signs all devices out; with `except=current` all others", bearers: [.access],
            parameters: [
                .installation,
                APIParameter(name: "except", place: .query, schema: .one(of: ["current"]), summary: "The sign-in to keep"),
            ],
            replies: [.noContent("The devices are signed out")], handler: { $0.people.signIns.endAll }),
        APIOperation(
            method: .delete, path: "/v1/users/me/sessions/{id}", id: "endSignIn", area: .people, summary: "Signs a device out",
            bearers: [.access], parameters: [.id("id", "The sign-in's id"), .installation],
            replies: [.noContent("The device is signed out")], errors: [.notFound], handler: { $0.people.signIns.end }),
    ]

    private static let reportUser = APIOperation(
        method: .post, path: "/v1/users/{user}/report", id: "reportUser", area: .people, summary: "Reports a user to the operators",
        bearers: [.access], parameters: [.user, .installation], body: report, replies: [reported],
        repetition: "one report while it is open", handler: { $0.people.reports.user })

    private static let account = JSONSchema.object([
        "user_id": .uuid, "email": .text.orNull, "display_name": .text.orNull, "created_at": .instant,
        "face": .object(["enrolled_at": .instant, "replaced_at": .instant.orNull, "model": .text.orNull]).orNull,
        "recovery_takes_effect_at": .instant.orNull,
        "consent": .object(["consent_version": .text, "consent_sha256": .text, "given_at": .instant]).orNull,
        "identity_providers": .array(of: .text), "devices": .count, "sessions": .count, "topics": .count,
    ])

    private static let signIn = JSONSchema.object([
        "session_id": .uuid,
        "device": .object(["platform": .text.orNull, "app_version": .text.orNull, "locale": .text.orNull]),
        "created_at": .instant, "last_used_at": .instant, "expires_at": .instant, "current": .boolean,
    ])
}
