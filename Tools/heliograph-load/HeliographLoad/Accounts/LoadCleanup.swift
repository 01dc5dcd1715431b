internal import CommandLineSupport
internal import JSON

/// Deletes the jobs and topics of a load and signs its accounts out; the API offers no deletion of accounts.
struct LoadCleanup: Sendable {
    /// Jobs listed by one request; the API gives up to 99.
    private static let pageSize = 50

    let api: LoadAPI

    /// Counts of deletions, and of the remaining data of the installation.
    struct Remains {
        var accounts = 0
        var jobsDeleted = 0
        /// Requests that failed.
        var failed = 0

        var json: JSONRecord { ["accounts": accounts, "jobs_deleted": jobsDeleted, "failed": failed] }
    }

    func run(_ population: LoadPopulation) async -> Remains {
        var remains = Remains()
        remains.accounts = population.size
        for owner in population.owners.all {
            await deleteJobs(of: owner, &remains)
            await endTopic(of: owner, among: population.owners.all, &remains)
        }
        // Last, because leaving a topic needs a bearer token.
        for account in population.owners.all + population.members.all {
            await attempt(&remains, account) { bearer throws(LoadFailure) in
                _ = try await api.send("POST", "/api/v1/auth/logout", bearer: bearer, for: nil)
            }
        }
        return remains
    }

    private func deleteJobs(of owner: LoadAccount, _ remains: inout Remains) async {
        while true {
            var jobs: [String] = []
            await attempt(&remains, owner) { bearer throws(LoadFailure) in
                let page = try await api.send("GET", "/v1/images/jobs?limit=\(Self.pageSize)", bearer: bearer, for: nil)
                jobs = (page.body["data"]?["jobs"]?.elements ?? []).compactMap { $0["job_id"]?.string }
            }
            if jobs.isEmpty { return }
            let failed = remains.failed
            for job in jobs {
                await attempt(&remains, owner) { bearer throws(LoadFailure) in
                    _ = try await api.send("DELETE", "/v1/images/jobs/\(job)", bearer: bearer, for: nil)
                }
            }
            remains.jobsDeleted += jobs.count - (remains.failed - failed)
            // Stops here, because the next page would list the jobs whose deletion failed again.
            if remains.failed > failed { return }
        }
    }

    /// Removes all members of an owner's topic; the removal of the last one deletes the topic with its photos.
    private func endTopic(of owner: LoadAccount, among owners: [LoadAccount], _ remains: inout Remains) async {
        let index = owners.firstIndex { $0 === owner } ?? 0
        let other = owners[(index + 1) % owners.count]
        for user in other === owner ? ["me"] : [other.tokens?.userID ?? "me", "me"] {
            await attempt(&remains, owner) { bearer throws(LoadFailure) in
                _ = try await api.send("DELETE", "/v1/topics/\(owner.topic)/members/\(user)", bearer: bearer, for: nil)
            }
        }
    }

    /// Sends requests of a signed-in account; once more after the Retry-After of the service.
    private func attempt(
        _ remains: inout Remains, _ account: LoadAccount, _ body: (String) async throws(LoadFailure) -> Void
    ) async {
        guard let bearer = account.tokens?.access else { return }
        for isLast in [false, true] {
            do throws(LoadFailure) { return try await body(bearer) } catch {
                guard let wait = error.wait, !isLast else {
                    remains.failed += 1
                    return
                }
                try? await Task.sleep(for: wait)
            }
        }
    }
}
