import TestSupport

/// Keys that are replaced under load.
extension FaultRow {
    /// The figures of the work under load are those of `heliograph-load` and of the messages: a request whose work was not done is lost.
    static let keysRotated = FaultRow("K1", "every key is rotated under load, and the old ones are removed") { scale, isClustered, report in
        let twins = try await TwinStack.start(isClustered: isClustered)
        do {
            try await rotateAll(twins, scale, &report)
        } catch {
            report.error = "\(error)\n\(twins.tails())"
        }
        await twins.stop()
    }

    private static func rotateAll(_ twins: TwinStack, _ scale: Scale, _ report: inout FaultReport) async throws {
        let witness = try await Witness.make(on: twins.stack)
        let load = try await LoadRun.start(on: twins.stack, perSecond: scale.clientRate, duration: "45m")
        let chat = Chat(of: witness)
        let rotation = KeyRotation(twins: twins, chat: chat, messagesPerRestart: scale.messagesPerRestart)
        let missing = try await witness.losses()
        report.check("before the rotations everything is readable", missing.isEmpty, missing.joined(separator: "; "))
        for setting in scale.rotatesAllKeys ? KeySetting.rings : KeySetting.rings.filter({ $0.ring == "tokens" }) {
            report.checks += try await rotation.rotate(setting)
            let losses = try await witness.losses()
            report.check("\(setting.name): what was stored before is readable", losses.isEmpty, losses.joined(separator: "; "))
        }
        if scale.rotatesAllKeys { try await replaceSingleKeys(rotation, witness, &report) }
        let refreshed = try await witness.refreshed()
        report.check("a refresh token of before is exchanged", refreshed == 200, "\(refreshed)")

        report.check("the load went on until the end", load.isRunning, load.isRunning ? "" : "it ended before")
        let messages = await chat.end()
        let totals = try await load.finish()
        report.check("the load reports no failure", totals.isClean, totals.failures.joined(separator: "; "))
        report.check("no message was refused", messages.refused.isEmpty, messages.refused.joined(separator: "; "))
        try await settle(messages.sent, of: witness, &report)
        report.published = totals.asked + messages.sent
        report.effects += totals.succeeded
        report.lost += totals.asked - totals.succeeded
        report.rerun = totals.sentAgain
        let dead = try await twins.deadLetters()
        report.check("no message was given up", dead.isEmpty, dead)
        let restarts = twins.restarts
        report.check(
            "instances were restarted", restarts.count > 0, "\(restarts.count) times, the slowest ended after \(restarts.slowestStop)")
    }

    /// Replaces the keys that do not seal: only the values that `docs/operations/leaked-key.md` names become invalid.
    private static func replaceSingleKeys(
        _ rotation: KeyRotation, _ witness: Witness, _ report: inout FaultReport
    ) async throws {
        let refused = try await witness.signIn(with: witness.photos)
        report.check("photos that were sent before are refused", refused == "replayed_image", refused)
        try await rotation.replace(.session)
        let accepted = try await witness.signIn(with: witness.photos)
        report.check("SESSION_KEY: photos of before are accepted once more", accepted == "succeeded", accepted)
        let before = try await witness.thumbnails()
        report.check("links of before lead to pictures", before.old == 200 && before.new == 200, "\(before)")
        try await rotation.replace(.mediaLink)
        let after = try await witness.thumbnails()
        report.check("MEDIA_LINK_KEY: links of before end, new ones lead to pictures", after.old != 200 && after.new == 200, "\(after)")
        let losses = try await witness.losses()
        report.check("SESSION_KEY, MEDIA_LINK_KEY: what was stored before is readable", losses.isEmpty, losses.joined(separator: "; "))
    }

    /// Waits for all messages on the phone whose token was stored before, and counts those that are missing or came twice.
    private static func settle(_ sent: Int, of witness: Witness, _ report: inout FaultReport) async throws {
        let expected = Set((1...max(1, sent)).map(Chat.text))
        let isComplete = try? await eventually(within: .seconds(120), "all messages arrive") {
            try await Set(witness.messages().map(\.text)).isSuperset(of: expected) ? true : nil
        }
        let got = try await witness.messages()
        let texts = Set(got.map(\.text))
        report.effects += got.count
        report.lost += expected.subtracting(texts).count
        report.duplicated += got.count - texts.count
        let strange = got.filter { $0.title != Witness.name || !expected.contains($0.text) }
        report.check(
            "a phone of before gets every message with its text and its sender's name", isComplete == true && strange.isEmpty,
            "\(sent) messages" + (strange.isEmpty ? "" : ", strange: \(strange.prefix(5))"))
    }
}
