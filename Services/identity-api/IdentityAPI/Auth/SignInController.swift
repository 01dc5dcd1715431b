internal import Accounts
internal import FoundationEssentials
internal import PostgresClient
internal import Push
internal import WireFormat

/// Answers `GET` and `DELETE /v1/users/me/sessions`, and `DELETE /v1/users/me/sessions/{id}`: the devices on which the sender is signed in.
struct SignInController: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys

    func list(_ call: UserCall) async throws -> [ListedSignIn] {
        let signIns = try await SignInRepository(postgres).list(of: call.sender.userID)
        return signIns.map { ListedSignIn(signIn: $0, isCurrent: $0.id == call.sender.signInID) }
    }

    /// Ends one sign-in of the sender, which may be the current one. Another user's sign-in gets the response for an unknown id.
    func end(_ call: APICall<Identity, UUID, EmptyBody>) async throws {
        let (identity, id) = (call.sender, call.target)
        let ended = try await postgres.withTransaction { transaction -> EndedSignIns? in
            let ended = try await SignInRepository(transaction).end(id, of: identity.userID)
            if let ended, !ended.ids.isEmpty {
                try await AuditRepository(transaction).append(
                    keys.auditEntry(.signInEnded, by: .user(identity.userID), on: identity.userID, object: id, call.context))
            }
            return ended
        }
        guard let ended else { throw APIError.signInNotFound }
        DeviceRegistrar.countRemoved(ended.removedInstalls.count)
    }

    /// Ends all sign-ins of the sender, and stops the pushes to all of their devices; with `?except=current` all others.
    func endAll(_ call: APICall<Identity, Bool, EmptyBody>) async throws {
        let (identity, keepsCurrent) = (call.sender, call.target)
        let removed = try await postgres.withTransaction { transaction -> Int in
            let keptID = keepsCurrent ? identity.signInID : nil
            // The sign-in of a Firebase user has no id: all sign-ins since its time are kept.
            let current = keepsCurrent && identity.signInID == nil ? identity.authenticatedAt : nil
            let ended = try await SignInRepository(transaction).endAll(
                of: identity.userID, except: keptID, providersBefore: current)
            // Installations that an image order has registered have no sign-in to end.
            let others = try await PushInstallRepository(transaction).unregisterAll(
                of: identity.userID, except: keepsCurrent ? identity.installationKey : nil)
            try await AuditRepository(transaction).append(
                keys.auditEntry(
                    .signInsEnded, by: .user(identity.userID), on: identity.userID, object: keptID,
                    detail: keepsCurrent ? "all_but_current" : "all", call.context))
            return ended.removedInstalls.count + others.count
        }
        DeviceRegistrar.countRemoved(removed)
    }
}

/// A sign-in in the list of its user.
struct ListedSignIn: APIObject {
    /// The device of a sign-in, as its app describes it.
    struct Device: APIObject {
        static let members: [APIMember<Device>] = [
            .required("platform", \.signIn.platform), .required("app_version", \.signIn.appVersion), .required("locale", \.signIn.locale),
            .required(
                "key", \.signIn.deviceKeyStorage,
                DeviceKeyStorage?.schema.described("Where the app says that the device's key is; null for a sign-in without one")),
        ]

        let signIn: SignIn
    }

    static let members: [APIMember<ListedSignIn>] = [
        .required("session_id", \.signIn.id), .required("device", \.device), .required("created_at", \.signIn.createdAt),
        .required("last_used_at", \.signIn.lastUsedAt), .required("expires_at", \.signIn.expiresAt),
        .required("current", \.isCurrent),
    ]

    let signIn: SignIn
    let isCurrent: Bool
    var device: Device { Device(signIn: signIn) }
}

extension APIError {
    static let signInNotFound = APIError(.notFound, "Session not found")
}

extension DeviceKeyStorage: APIWord {}
