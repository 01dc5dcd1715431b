internal import Foundation

extension EKYCSessionManager {
    func launchAll() async throws(HeliographError) {
        let tasks = try await ports.store.tasks().filter { $0.kind == .ekycSession }
        if !isSwept {
            removePhotos(besides: Set(tasks.flatMap(\.files)))
            await removeSecrets(besides: Set(tasks.flatMap(\.secrets)))
            isSwept = true
        }
        var found: [EKYCSessionDriver] = []
        for task in tasks where drivers[task.id] == nil {
            // It may have ended since the list was read.
            guard try await ports.store.task(task.id) != nil, drivers[task.id] == nil else { continue }
            guard let driver = EKYCSessionDriver(task, ports, hooks) else {
                try await ports.store.update(task.id) { $0 = nil }
                continue
            }
            drivers[task.id] = driver
            if driver.kind == .signIn, await !driver.isDecided { found.append(driver) }
        }
        // Of several sign-ins, which a fault of the disk may leave, the newest counts. The tasks are in their order.
        for driver in found.dropLast() { await driver.stop(.superseded) }
        for driver in drivers.values { await driver.launch() }
        await closeRetakes(by: tasks)
    }

    /// Deletes the secrets of failed sessions whose retake was kept before its process ended. One that is being created is not among the
    /// tasks.
    private func closeRetakes(by tasks: [PendingTask]) async {
        for task in tasks {
            guard let retaken = await drivers[task.id]?.record?.retakes else { continue }
            await drivers[retaken]?.closeRetake()
        }
    }

    /// Removes photos whose process ended before it had stored their session. This process has not kept any yet.
    private func removePhotos(besides named: Set<String>) {
        let store = ports.store
        let files = (try? store.operations.list(store.folders.files)) ?? []
        for file in files where file.name.split(separator: ".").dropFirst().first == Self.fileExtension[...] {
            let url = store.folders.files.appending(path: file.name)
            if !named.contains(store.path(of: url)) { try? store.operations.remove(url) }
        }
    }

    /// Removes the secrets of sessions whose process ended before it had stored their record. On a locked device they stay for the sweep of
    /// the store.
    private func removeSecrets(besides named: Set<String>) async {
        let keys = (try? await ports.secrets.keys().keys).map(Array.init) ?? []
        for key in keys where key.hasPrefix(EKYCSecret.keyPrefix) && !named.contains(key) { try? await ports.secrets.remove(key) }
    }

    /// An id as the API writes it.
    static func uuid(_ text: String) -> UUID? { try? JSONDecoder().decode(UUID.self, from: Data("\"\(text)\"".utf8)) }
}
