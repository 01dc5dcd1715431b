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
    let reader: ImageJobReader
    let jobs: RowWatcher<ImageJob>

    /// Answers with one job; with `?wait=N` when the job has ended, at the latest after N seconds.
    func status(_ call: APICall<WatchedUser, (UUID, Int, JobView), EmptyBody>) async throws -> Response {
        let (id, wait, view) = call.target
        let (userID, context) = (call.sender.identity.userID, call.context)
        var job = try await find(id, of: userID)
        if wait > 0, !job.status.isTerminal {
            let ended = await jobs.waitIfPossible(
                for: id, of: .account(userID), while: call.sender.signIn, upTo: .seconds(wait),
                whenClientHangsUp: context.whenClientHangsUp
            ) { $0.status.isTerminal }
            if let ended {
                job = ended
            } else {
                guard try await call.sender.signIn.holds() else { throw APIError.bearerEnded }
                job = try await find(id, of: userID)
            }
        }
        // HEAD does not fetch the outcome.
        let isFetched = call.head.method != .head
        if isFetched { await count(job, view.trigger, context) }
        // Weak, because every body also contains its time and its request id.
        let tag = "W/\"\(job.id.wireString)-\(job.status.rawValue)-\(view.form.rawValue)\""
        var response =
            call.head.headerFields.hasCurrent(tag)
            ? Response(status: .notModified) : try await reader.answer(job, view.form, .job, isFetched: isFetched, context)
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

    /// Returns a job to its user only.
    func find(_ id: UUID, of userID: UUID) async throws -> ImageJob {
        guard let job = try await ImageJobRepository(postgres).find(id: id) else { throw APIError.jobNotFound }
        guard job.userID == userID else { throw APIError.accessDenied }
        return job
    }

    /// Counts reads by trigger, and fetches of an outcome once per job and trigger, to measure how well pushes work.
    private func count(_ job: ImageJob, _ trigger: String?, _ context: APIRequestContext) async {
        let named = trigger.map { $0.lowercased() } ?? "none"
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

/// What a client wants of a job.
struct JobView: Sendable {
    let form: ImageJobReader.Form
    /// The reason of the request, in the client's words.
    let trigger: String?
}

extension APIArgument<JobView> {
    /// The query `result`, and the header `X-Client-Trigger`.
    static let jobView = APIArgument(
        APIParameter(
            name: "result", place: .query, schema: .one(of: ["base64", "url"]), summary: "`url`: signed addresses, not base64"),
        APIParameter(name: "X-Client-Trigger", place: .header, schema: .text, summary: "Why the app asks: `push`, `poll` or `launch`")
    ) { request, _ throws(APIError) in
        let text = request.query("result")
        guard let form = text.map({ ImageJobReader.Form(rawValue: $0) }) ?? .inline else {
            throw APIError(.invalidRequest, "result is base64 or url", field: "result")
        }
        return JobView(form: form, trigger: request.headers[.clientTrigger])
    }
}

extension APIError {
    static let accessDenied = APIError(.forbidden, "Access denied")
}
