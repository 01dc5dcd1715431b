internal import Foundation

/// What the reducer has decided, done.
extension BackgroundUploads {
    func perform(_ effect: Machine.Effect) async -> [Machine.Event] {
        switch effect {
        case .listTasks: return await listTasks()
        case .fetchBearer(let fresh): fetchBearer(fresh: fresh)
        case .waitForBearer: later(Self.bearerTime, .bearerDue)
        case .create(let id, let delay): return [await create(id, delay: delay)]
        case .cancelTask(let task): await session.cancel(task)
        case .saveAttempts(let id, let attempts):
            orders[id]?.record.attempts = attempts
            // Only the pause before the next attempt depends on it.
            _ = try? await records.update(id) { _, record in record.attempts = attempts }
        case .save(let id, let ending): return [await save(id, ending)]
        case .saveLater(let id): later(Self.saveTime, .saveAgain(id))
        case .removeFile(let id):
            // A file that cannot be removed now is removed by the sweep, since the record does not name it or ends with it.
            _ = try? await records.update(id) { task, _ in task.files = [] }
        case .report(let id, let ending): report(id, ending)
        case .forget(let id):
            // If this cannot be written, the tracker gets the outcome again after a restart, and takes it as known.
            _ = try? await records.update(id) { _, record in record.isAcknowledged = true }
        case .armDeadline(let handler): later(Self.wakeUpTime, .deadline(handler: handler))
        case .callHandler(let handler): await callCompletion(handler)
        case .waitForPush(let job): later(Self.pushTime, .pushGraceEnded(job))
        case .checkShown(let job):
            let isShown = await notifier?.isShown(notification(job).identifier) ?? true
            return [.shown(job, isShown)]
        case .claimNotice(let job): return [.claimed(job, await claim(job))]
        case .notify(let job): await notifier?.show(notification(job))
        }
        return []
    }

    private func listTasks() async -> [Machine.Event] {
        var listed: [Machine.ListedTask] = []
        for (task, description) in await session.tasks() {
            listed.append(Machine.ListedTask(task: task, id: await id(of: description)))
        }
        return [.listed(listed, now: time.now())]
    }

    /// Fetches a bearer beside the runner, because it may take a request.
    private func fetchBearer(fresh: Bool) {
        let bearers = bearers
        let refused = bearer
        run { [weak self] in
            do throws(HeliographError) {
                var bearer: UploadBearers.Bearer
                if fresh {
                    // A task of an earlier process was refused with a bearer that this one does not know; it is the current one at best.
                    if let refused { bearer = refused } else { bearer = try await bearers.current() }
                    bearer = try await bearers.replacement(bearer)
                } else {
                    bearer = try await bearers.current()
                }
                await self?.use(bearer)
            } catch {
                await self?.runner.send(.bearer(.unavailable))
            }
        }
    }

    private func use(_ bearer: UploadBearers.Bearer) async {
        self.bearer = bearer
        await runner.send(.bearer(.ready(owner: bearer.owner)))
    }

    private func create(_ id: UUID, delay: Int) async -> Machine.Event {
        let key = id.wireText
        do throws(HeliographError) {
            // iOS ends the process when it cannot read the file of a new task.
            guard let (task, record) = orders[id], let bearer, let path = task.files.first, let file = records.store.url(of: path),
                FileManager.default.isReadableFile(atPath: file.path)
            else { throw HeliographError(.storage, "the file of an upload is gone") }
            let request = try builder.build(
                JobsRequests.order(file: file, boundary: record.boundary, key: id), bearer: bearer.token, requestID: key)
            let begin = delay > 0 ? time.now().addingTimeInterval(Double(delay)) : nil
            let upload = UploadTask(request: request, file: file, description: key, notBefore: begin)
            return .created(id, task: await session.create(upload))
        } catch {
            return .notCreated(id, .init(error))
        }
    }

    private func save(_ id: UUID, _ ending: Machine.Ending) async -> Machine.Event {
        let now = time.now()
        do throws(HeliographError) {
            let saved = try await records.update(id) { task, record -> Machine.Ending in
                if let earlier = record.ending { return earlier }
                record.ending = ending
                task.finishedAt = now
                if case .accepted(let jobID) = ending { task.remoteID = jobID }
                return ending
            }
            // A record that has gone cannot be kept from being told twice, nor is anything left to tell of it again.
            return .saved(id, saved ?? ending)
        } catch {
            return .notSaved(id)
        }
    }

    /// Claims the notification of a job; false when it was claimed before.
    private func claim(_ job: String) async -> Bool {
        do throws(HeliographError) {
            guard let task = try await records.store.tasks().first(where: { $0.remoteID == job && $0.kind == .imageUpload }) else {
                // The job was not ordered by an upload: the tracker reports its end once.
                return true
            }
            return try await records.update(task.id) { _, record -> Bool in
                defer { record.isNotified = true }
                return !record.isNotified
            } ?? false
        } catch {
            // At most once: what cannot be written down is not shown.
            return false
        }
    }

    private func notification(_ job: String) -> JobNotification { JobNotification(jobID: job, templateName: templateNames[job]) }

    func callCompletion(_ handler: Int) async {
        guard let completion = completions.removeValue(forKey: handler) else { return }
        await MainActor.run { completion() }
    }

    private func later(_ duration: Duration, _ event: Machine.Event) {
        let time = time
        run { [weak self] in
            guard (try? await time.sleep(duration)) != nil else { return }
            await self?.runner.send(event)
        }
    }
}
