internal import Foundation
internal import MobileClient
internal import Synchronization

/// The end of a run on a phone: begun orders and sessions end, a day passes, and no data of them must be left.
extension Phone {
    private static let day = 24 * 3_600.0 + 120
    /// The time in which pending orders and sessions must end after the day has passed.
    private static let timeAfterDay = 60.0

    /// Ends all faults, and waits until everything that the app has begun has ended.
    ///
    /// - Parameter limit: The longest wait, in seconds.
    func settle(within limit: Double) async {
        state.withLock { $0.isEnding = true }
        network.heal()
        state.withLock { $0.app }?.incarnation.spare()
        if state.withLock({ $0.app }) == nil { _ = try? launch() }
        state.withLock { $0.isForeground = true }
        await state.withLock { $0.app }?.tell { client in
            await client.networkChanged(isOnline: true)
            await client.enterForeground()
        }
        let deadline = ContinuousClock.now + .seconds(limit)
        while ledger.withLock({ $0.open }) > 0, .now < deadline { try? await Task.sleep(for: .milliseconds(500)) }
    }

    /// Lets a day pass while the app does not run, starts it once more, and checks that no data is left.
    func passDay() async {
        state.withLock { $0.app }?.incarnation.end(at: "the end of the run")
        clock.jump(seconds: Self.day)
        note("A day passes")
        guard let app = try? launch() else { return violate(.start, "The client cannot be made") }
        let deadline = ContinuousClock.now + .seconds(Self.timeAfterDay)
        var (orders, sessions) = await app.pending()
        while !orders.isEmpty || !sessions.isEmpty || ledger.withLock({ $0.open }) > 0, .now < deadline {
            try? await Task.sleep(for: .milliseconds(500))
            (orders, sessions) = await app.pending()
        }
        await app.sweepForms()
        await sweepPictures()
        violate(ledger.withLock { $0.findings(pendingOrders: orders, pendingSessions: sessions) })
        await checkFolder()
        state.withLock { $0.app }?.incarnation.end(at: "the last end")
        tally()
    }

    /// Has the extension get one push more: it removes the pictures that ends of its processes have left.
    private func sweepPictures() async {
        let json = Data(#"{"notification":{"title":"The last"},"data":{"kind":"none"}}"#.utf8)
        let push = EmulatorControl.Push(
            token: "", json: json, title: "The last", body: "", data: [:], receivedAt: "", picture: nil)
        await ExtensionProcess(phone: self, folder: state.withLock { $0.folder }).receive(push, expiringAfter: nil)
    }

    /// Receipts and orders may be on their way for a moment.
    private func checkFolder() async {
        var leaked: [String] = []
        for _ in 0..<20 {
            leaked = FolderCheck.leaked(FolderCheck.files(in: state.withLock { $0.folder }))
            if leaked.isEmpty { return }
            try? await Task.sleep(for: .milliseconds(250))
        }
        world.measurements.change { $0.leakedFiles += leaked.count }
        violate(.leakedFile, "\(leaked.count) files were left: \(leaked.prefix(10).joined(separator: ", "))")
    }

    private func tally() {
        let ledger = ledger.withLock { $0 }
        world.measurements.change { contents in
            for order in ledger.orders.values where !order.ends.isAbandoned {
                contents.eventsPerOrder[order.ends.perProcess, default: 0] += 1
            }
            for session in ledger.sessions.values where !session.ends.isAbandoned {
                contents.eventsPerSession[session.ends.perProcess, default: 0] += 1
            }
        }
    }
}
