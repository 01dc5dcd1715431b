import Foundation

@testable import MobileClient

extension GoldenExchange {
    private static let user = GoldenFile.id("user")
    private static let erasure = AccountRequests.erasure(GoldenFile.id("erasure"), token: "token-receipt")

    private static func begun(_ id: UUID) -> AccountClient.Erasure {
        AccountClient.Erasure(id: id, receiptToken: GoldenFile.token, receiptPath: "/v1/users/me/erasure/\(id.wireText)")
    }

    /// Erasures and their receipts.
    static let erasures: [GoldenExchange] = [
        .answer("account-erase", AccountRequests.eraseAccount(), is: begun(GoldenFile.id())),
        .answer("account-erase-face", AccountRequests.eraseFace(), is: begun(GoldenFile.id())),
        .refusal("account-erase-face-in-progress", AccountRequests.eraseFace(), .requestInProgress, waits: true),
        .refusal("account-erase-reauthentication-required", AccountRequests.eraseAccount(), .reauthenticationRequired),
        .answer("erasure-open", erasure) {
            $0.id == GoldenFile.id("erasure") && $0.scope == .account && $0.state == .erasing && $0.requestedAt == GoldenFile.time
                && $0.completedAt == nil && $0.receipt == nil && $0.services.allSatisfy { !$0.finished }
        },
        .answer("erasure-completed", erasure) {
            $0.state == .completed && $0.completedAt == GoldenFile.time && $0.receipt == Data(GoldenFile.token.utf8)
                && $0.services.allSatisfy(\.finished) && $0.services.contains { $0.service == "identity-api" && !$0.erased.isEmpty }
        },
        .refusal("erasure-unknown", erasure, .notFound),
    ]

    /// Blocks, contacts and reports.
    static let people: [GoldenExchange] = [
        .answer("blocks-list", PeopleRequests.people(on: .blocks), is: [.init(userID: user, createdAt: GoldenFile.time)]),
        .answer("blocks-replace", PeopleRequests.replace(.blocks, with: [user]), is: [.init(userID: user, createdAt: GoldenFile.time)]),
        .done("block-put", PeopleRequests.add(user, to: .blocks)), .done("block-delete", PeopleRequests.remove(user, from: .blocks)),
        .refusal("block-oneself", PeopleRequests.add(user, to: .blocks), .invalidRequest, field: "user_id"),
        .refusal("block-limit-reached", PeopleRequests.add(user, to: .blocks), .limitReached),
        .answer("contacts-list", PeopleRequests.people(on: .contacts), is: [.init(userID: user, createdAt: GoldenFile.time)]),
        .answer("contacts-replace", PeopleRequests.replace(.contacts, with: [user]), is: [.init(userID: user, createdAt: GoldenFile.time)]),
        .done("contact-put", PeopleRequests.add(user, to: .contacts)),
        .done("contact-delete", PeopleRequests.remove(user, from: .contacts)),
        .done("report-user", PeopleRequests.reportUser(user, .init(.spam, text: "Every day!")), makesKey: true),
        .done("report-topic", PeopleRequests.reportTopic("conversation:c-1", .init(.harassment)), makesKey: true),
        .done("report-message", PeopleRequests.reportMessage("m-1", in: "conversation:c-1", .init(.sexualContent)), makesKey: true),
        .refusal("report-rate-limited", PeopleRequests.reportUser(user, .init(.other)), makesKey: true, .rateLimited, waits: true),
    ]
}
