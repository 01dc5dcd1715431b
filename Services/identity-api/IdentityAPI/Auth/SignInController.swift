internal import FoundationEssentials
internal import Hummingbird
internal import JSON
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Answers `GET` and `DELETE /v1/users/me/sessions`, and `DELETE /v1/users/me/sessions/{id}`: the devices on which the sender is signed in.
struct SignInController: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys
    let authenticator: any Authenticator
    /// Limits the requests of one account.
    let limiter: RateLimiter<UUID>

    func list(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await admit(request, context)
        let signIns = try await SignInRepository(postgres).list(of: identity.userID)
        let sessions = signIns.map { Self.json($0, isCurrent: $0.id == identity.signInID) }
        return Answer.json(Answer.data(.members(("sessions", .array(sessions))), context.requestID))
    }

    /// Ends one sign-in of the sender, which may be the current one. Another user's sign-in gets the response for an unknown id.
    func end(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await admit(request, context)
        let unknown = APIError(.notFound, "Session not found")
        guard let id = context.parameters.get("id").flatMap({ UUID(wireString: $0) }) else { throw unknown }
        let ended = try await postgres.withTransaction { transaction -> EndedSignIns? in
            let ended = try await SignInRepository(transaction).end(id, of: identity.userID)
            if let ended, !ended.ids.isEmpty {
                try await AuditRepository(transaction).append(
                    keys.auditEntry(.signInEnded, by: .user(identity.userID), on: identity.userID, object: id, context))
            }
            return ended
        }
        guard let ended else { throw unknown }
        DeviceRegistrar.countRemoved(ended.removedInstalls.count)
        return Response(status: .noContent)
    }

    /// Ends all sign-ins of the sender, and stops the pushes to all of their devices; with `?except=current` all others.
    func endAll(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await admit(request, context)
        let except = request.query("except")
        guard except == nil || except == "current" else {
            throw APIError(.invalidRequest, "The sessions to keep are \"current\" or none", field: "except")
        }
        let removed = try await postgres.withTransaction { transaction -> Int in
            let kept = except == nil ? nil : identity.signInID
            // The sign-in of a Firebase user has no id: all sign-ins since its time are kept.
            let current = except == nil || identity.signInID != nil ? nil : identity.authenticatedAt
            let ended = try await SignInRepository(transaction).endAll(
                of: identity.userID, except: kept, providersBefore: current)
            // Installations that an image order has registered have no sign-in to end.
            let others = try await PushInstallRepository(transaction).unregisterAll(
                of: identity.userID, except: except == nil ? nil : identity.installationKey)
            try await AuditRepository(transaction).append(
                keys.auditEntry(
                    .signInsEnded, by: .user(identity.userID), on: identity.userID, object: kept,
                    detail: except == nil ? "all" : "all_but_current", context))
            return ended.removedInstalls.count + others.count
        }
        DeviceRegistrar.countRemoved(removed)
        return Response(status: .noContent)
    }

    private func admit(_ request: Request, _ context: APIRequestContext) async throws -> Identity {
        let identity = try await authenticator.identify(request)
        try limiter.admit(identity.userID, context.limits, or: "Too many requests by this account")
        return identity
    }

    private static func json(_ signIn: SignIn, isCurrent: Bool) -> JSONValue {
        .members(
            ("session_id", .string(signIn.id.wireString)),
            (
                "device",
                .members(
                    ("platform", signIn.platform.map(JSONValue.string) ?? .null),
                    ("app_version", signIn.appVersion.map(JSONValue.string) ?? .null),
                    ("locale", signIn.locale.map(JSONValue.string) ?? .null))
            ),
            ("created_at", .string(Answer.timestamp(signIn.createdAt))), ("last_used_at", .string(Answer.timestamp(signIn.lastUsedAt))),
            ("expires_at", .string(Answer.timestamp(signIn.expiresAt))), ("current", .bool(isCurrent)))
    }
}
