internal import Accounts
internal import BlobStore
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Metrics
internal import Pictures
internal import PostgresClient
internal import Push
internal import WireFormat

/// Answers `GET` and `DELETE /v1/images/jobs/{id}`, `GET /v1/images/jobs` and `GET /v1/templates`.
struct ImageJobController: Sendable {
    /// The default number of jobs on a page.
    static let usualPage = 20
    /// The known values of `X-Client-Trigger`: the reasons for a client's request.
    private static let triggers: Set<String> = ["push", "poll", "launch"]

    let postgres: PostgresClient
    let blobs: any BlobStore
    let authenticator: any Authenticator
    let reader: ImageJobReader
    let jobs: RowWatcher<ImageJob>

    /// Answers with one job; with `?wait=N` when the job has ended, at the latest after N seconds.
    func status(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let wait = try request.wait()
        let form = try Self.form(of: request)
        var job = try await find(request, context)
        if wait > 0, !job.status.isTerminal {
            let ended = await jobs.waitIfPossible(
                for: job.id, of: .account(job.userID), while: try SignInWatch(authenticator, request, of: job.userID),
                upTo: .seconds(wait), whenClientHangsUp: context.whenClientHangsUp
            ) { $0.status.isTerminal }
            if let ended { job = ended } else { job = try await find(request, context) }
        }
        // HEAD does not fetch the outcome.
        let isFetched = request.method != .head
        if isFetched { await count(job, request, context) }
        // Weak, because every body also contains its time and its request id.
        let tag = "W/\"\(job.id.wireString)-\(job.status.rawValue)-\(form.rawValue)\""
        var response =
            request.headers.hasCurrent(tag)
            ? Response(status: .notModified) : try await reader.answer(job, form, .job, isFetched: isFetched, context)
        response.headers[.eTag] = tag
        response.headers[.cacheControl] = "private, no-cache"
        return response
    }

    /// Lists the jobs of the sender, newest first.
    func list(_ call: APICall<Identity, ListPosition, EmptyBody>) async throws -> JobPage {
        let limit = call.target.limit
        let found = try await ImageJobRepository(postgres).list(
            userID: call.sender.userID, before: call.target.cursor, limit: limit + 1)
        return JobPage(page: ListPage(found, limit: limit, cursor: ListCursor.init(after:)).map(ListedJob.init))
    }

    /// Cancels a job that has not ended, or deletes an ended one; its user cannot see it any more.
    func delete(_ call: APICall<Identity, UUID, EmptyBody>) async throws {
        let (id, context) = (call.target, call.context)
        let repository = ImageJobRepository(postgres)
        switch try await repository.delete(id: id, userID: call.sender.userID) {
        case .notFound: throw APIError.jobNotFound
        case .forbidden: throw APIError.accessDenied
        case .stopping: break
        case .deleted:
            do {
                try await blobs.deleteAll(under: BlobFolder.imageJobs.prefix(of: id))
                try await repository.remove([id])
            } catch {
                // The job is invisible already; the sweeper deletes the rest.
                context.logger.error("a deleted job's pictures are left", metadata: ["error": "\(error)"])
            }
        }
        jobs.wake(id)
        context.logger.info("image job deleted", metadata: ["job_id": "\(id.wireString)"])
    }

    /// Lists the templates; without a bearer, so that an app can show them before a sign-in.
    func templates(_: APICall<Void, Void, EmptyBody>) async throws -> [ImageTemplate] { try await ImageTemplateRepository(postgres).list() }

    /// Returns the job in the path, to its user only.
    func find(_ request: Request, _ context: APIRequestContext) async throws -> ImageJob {
        let identity = try await authenticator.identify(request)
        guard let job = try await ImageJobRepository(postgres).find(id: try Self.jobID(context)) else { throw APIError.jobNotFound }
        guard job.userID == identity.userID else { throw APIError.accessDenied }
        return job
    }

    private static func jobID(_ context: APIRequestContext) throws(APIError) -> UUID {
        guard let id = context.parameters.get("id").flatMap({ UUID(wireString: $0) }) else { throw APIError.jobNotFound }
        return id
    }

    private static func form(of request: Request) throws(APIError) -> ImageJobReader.Form {
        guard let text = request.query("result") else { return .inline }
        guard let form = ImageJobReader.Form(rawValue: text) else {
            throw APIError(.invalidRequest, "result is base64 or url", field: "result")
        }
        return form
    }

    /// Counts reads by trigger, and fetches of an outcome once per job and trigger, to measure how well pushes work.
    private func count(_ job: ImageJob, _ request: Request, _ context: APIRequestContext) async {
        let named = request.headers[.clientTrigger].map { $0.lowercased() } ?? "none"
        let isKnown = Self.triggers.contains(named)
        let trigger = isKnown || named == "none" ? named : "other"
        Counter(
            label: "image_job_reads_total", dimensions: [("trigger", trigger), ("status", job.status.rawValue)]
        ).increment()
        guard isKnown, job.status.isTerminal else { return }
        do {
            guard try await ReceiptRepository(postgres).recordRead(jobID: job.id, trigger: trigger) else { return }
            Counter(label: "image_job_outcomes_fetched_total", dimensions: [("trigger", trigger)]).increment()
        } catch {
            // A failed count must not fail the response.
            context.logger.warning("a read of an outcome is not counted", metadata: ["error": "\(error)"])
        }
    }
}

extension APIError {
    static let accessDenied = APIError(.forbidden, "Access denied")
}
