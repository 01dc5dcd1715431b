internal import Accounts
internal import FoundationEssentials
internal import Hummingbird

/// The senders that a request is answered to, with the checks of their bearer token and of their limits.
struct RequestSender<Value: Sendable>: Sendable {
    let bearers: [APIBearer]
    /// The parameters that belong to the bearer.
    var parameters: [APIParameter] = []
    /// The errors beyond those of the bearers.
    var errors: Set<ErrorCode> = []
    /// Identifies the sender, and counts the request against the sender's limit.
    let identify: @Sendable (Request, APIRequestContext, APIRoutes) async throws -> Value
}

extension RequestSender<Identity> {
    /// A signed-in user.
    ///
    /// - Parameters:
    ///   - limit: The limit that the request counts against; nil for a request that has no limit of its own.
    ///   - isRecent: Whether the sign-in must be recent, and the request come with a proof of the sign-in's key, if it has one: a thief of
    ///     a token must not be able to lock the owner out.
    static func user(_ limit: AccountLimit?, recently isRecent: Bool = false) -> RequestSender {
        guard isRecent else {
            return RequestSender(bearers: [.access], parameters: [.installation]) { try await $2.gate.user($0, $1, limit) }
        }
        return RequestSender(
            bearers: [.access], parameters: [.installation, .deviceProof],
            errors: DeviceKeyGate.errors.union([.reauthenticationRequired])
        ) { request, context, routes in
            let identity = try await routes.gate.user(request, context, limit)
            try identity.requireRecentSignIn(now: Date())
            return try await routes.deviceKeys.confirm(identity, request, context)
        }
    }
}

extension RequestSender<Identity> {
    /// A user whose sign-in has a device key, and whose request comes with a proof of it: a stolen access token does not do.
    static func keyHolder(_ limit: AccountLimit?) -> RequestSender {
        RequestSender(bearers: [.access], parameters: [.deviceProof], errors: DeviceKeyGate.errors) { request, context, routes in
            let identity = try await routes.gate.user(request, context, limit)
            return try await routes.deviceKeys.confirm(identity, request, context, needsKey: true)
        }
    }
}

/// A signed-in user whose request takes long enough for the sign-in to end meanwhile.
struct WatchedUser: Sendable {
    let identity: Identity
    let signIn: SignInWatch
}

extension RequestSender<WatchedUser> {
    /// A signed-in user, and the watch on the sign-in; see ``RequestSender/user(_:recently:)``.
    static func watchedUser(_ limit: AccountLimit?, recently isRecent: Bool = false) -> RequestSender {
        let user = RequestSender<Identity>.user(limit, recently: isRecent)
        return RequestSender(bearers: user.bearers, parameters: user.parameters, errors: user.errors) { request, context, routes in
            let identity = try await user.identify(request, context, routes)
            let watch = SignInWatch(authenticator: routes.gate.users, token: try request.requiredBearer(), userID: identity.userID)
            return WatchedUser(identity: identity, signIn: watch)
        }
    }
}

extension RequestSender<ServiceIdentity> {
    /// An app's own server, by an API key with a scope; the requests with a key have one limit.
    static func service(_ scope: ServiceScope) -> RequestSender {
        RequestSender(bearers: [.key(scope: scope.rawValue)]) { request, _, routes in
            try await routes.gate.services.identify(request, for: scope)
        }
    }
}

extension RequestSender<UserOrService> {
    /// A signed-in user with a limit, or an app's own server by an API key with a scope.
    static func user(_ limit: AccountLimit?, orService scope: ServiceScope) -> RequestSender {
        RequestSender(bearers: [.access, .key(scope: scope.rawValue)], parameters: [.installation]) { request, context, routes in
            guard try APIKeyAuthenticator.isUsed(in: request) else { return .user(try await routes.gate.user(request, context, limit)) }
            return .service(try await routes.gate.services.identify(request, for: scope))
        }
    }
}

extension RequestSender<String> {
    /// The holder of an opaque token, which the handler compares.
    static func holder(of bearer: APIBearer) -> RequestSender {
        RequestSender(bearers: [bearer]) { request, _, _ in try request.requiredBearer() }
    }
}

extension RequestSender<Void> {
    /// Anyone.
    ///
    /// - Parameter admit: Counts the request against a limit of its client.
    static func anyone(
        _ admit: @escaping @Sendable (APIRoutes, APIRequestContext) async throws -> Void = { _, _ in }
    ) -> RequestSender {
        RequestSender(bearers: []) { _, context, routes in try await admit(routes, context) }
    }
}

/// The sender of a request that users and apps' own servers send.
enum UserOrService: Sendable {
    case user(Identity)
    case service(ServiceIdentity)
}
