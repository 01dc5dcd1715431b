internal import Accounts
internal import AsyncPrimitives
internal import BlobStore
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Metrics
internal import PostgresClient

/// Answers `GET /v1/users/me/export`: everything that is kept of the sender, as a ZIP archive that is made while it is sent.
///
/// Needs a sign-in of the last five minutes: who holds a stolen token must not get everything at once. The export ends when that sign-in
/// does. An export that fails ends the connection within the chunked body, so that no client takes it for a whole one.
struct ExportController: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys
    /// The store of pictures.
    let blobs: any BlobStore
    /// Limits the number of concurrent exports, and with it the memory that they take.
    let slots: UploadSlots
    let limits: ExportLimits
    let clock: any MonotonicClock

    func get(_ call: APICall<WatchedUser, Void, EmptyBody>) async throws -> Response {
        let (userID, context) = (call.sender.identity.userID, call.context)
        let headers: HTTPFields = [
            .contentType: "application/zip", .contentDisposition: "attachment; filename=\"heliograph-export.zip\"",
            .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
        ]
        guard call.head.method == .get else { return Response(status: .ok, headers: headers) }
        let slot = try slots.take(for: context)
        guard let account = try await AccountOverview(of: userID, in: postgres, keys) else {
            throw APIError.unauthorized("The account is gone")
        }
        let watch = ExportWatch(
            id: UUID(), userID: userID, postgres: postgres, limits: limits, clock: clock, signIn: call.sender.signIn)
        try await begin(watch, call.sender.identity.proof, context)
        let export = AccountExport(account: account, userID: userID, postgres: postgres, blobs: blobs, keys: keys)
        let body = ResponseBody { writer in
            do {
                var archive = ExportArchive(writer, context, watch)
                try await export.write(to: &archive)
                writer = archive.writer
                await watch.end(context.logger)
                try await writer.finish(nil)
                Self.count("complete")
            } catch {
                await watch.end(context.logger)
                Self.count("failed")
                context.logger.warning("export ended before it was complete", metadata: ["error": "\(error)"])
                throw error
            }
            withExtendedLifetime(slot) {}
        }
        return Response(status: .ok, headers: headers, body: body)
    }

    private func begin(_ watch: ExportWatch, _ proof: DeviceProof?, _ context: APIRequestContext) async throws {
        let start = try await postgres.withTransaction { transaction in
            let start = try await AccountExportRepository(transaction).begin(
                id: watch.id, userID: watch.userID, lease: limits.lease, maxPerDay: limits.perDay)
            if start == .begun {
                try await DeviceKeyGate.use(proof, in: transaction)
                try await AuditRepository(transaction).append(
                    keys.auditEntry(.accountExported, by: .user(watch.userID), on: watch.userID, object: watch.id, context))
            }
            return start
        }
        switch start {
        case .begun: break
        case .busy: throw APIError(.requestInProgress, "An export of this account is under way", retryAfter: 30)
        case .exhausted(let wait): throw APIError.rateLimited("The account was exported too often in a day", wait: wait)
        }
    }

    private static func count(_ result: String) {
        Counter(label: "account_exports_total", dimensions: [("result", result)]).increment()
    }
}
