internal import Foundation
internal import MobileClient
internal import Synchronization

/// The actions of the person in the app.
extension AppProcess {
    func perform(_ action: PhonePlan.Action) async {
        switch action {
        case .order(let number): await order(number)
        case .photo: await addPhoto()
        case .message: await sendMessage()
        case .openChat(let seconds): await openChat(seconds)
        case .signOut(let another): await signOut(another: another)
        }
    }

    private var isInGroup: Bool { phone.memory.withLock { $0.isInGroup && $0.account == $0.member } }

    private func order(_ number: Int) async {
        if phone.memory.withLock({ $0.templates.isEmpty }) {
            let templates = await attempt("templates") { () async throws(HeliographError) in try await client.images.templates() }
            guard await incarnation.pass(.step), let templates else { return }
            phone.memory.withLock { $0.templates = templates.map(\.id) }
        }
        let (templates, account) = phone.memory.withLock { ($0.templates, $0.account) }
        guard !templates.isEmpty else { return }
        let picture = phone.world.photos.front[number % phone.world.photos.front.count]
        let now = phone.clock.now
        let job = await attempt("order", times: 1) { () async throws(HeliographError) in
            try await client.images.process(picture, template: templates[number % templates.count])
        }
        guard await incarnation.pass(.step), let job else { return }
        phone.note("Order \(job.id) is kept")
        let isNew = phone.ledger.withLock { ledger in
            defer { ledger.ordered(job.id, by: account, at: now) }
            return ledger.orders[job.id] == nil
        }
        let minute = phone.world.measurements.minute
        phone.world.measurements.change { contents in
            if isNew { contents.orders += 1 }
            contents.ordersByMinute[minute, default: 0] += 1
        }
    }

    // MARK: Groups

    /// Brings the event and the conversation of the phone's group about, a step at a time.
    func joinGroup() async {
        let (account, member) = phone.memory.withLock { ($0.account, $0.member) }
        guard let account, !phone.state.withLock({ $0.isEnding }) else { return }
        if member == nil, let profile = await attempt("profile", { () async throws(HeliographError) in try await client.account.profile() })
        {
            phone.memory.withLock { $0.member = profile.userID.uuidString.lowercased() }
            phone.world.directory.join(phone.index, as: profile.userID)
        }
        guard account == phone.memory.withLock({ $0.member }) else { return }
        if !phone.memory.withLock({ $0.isInGroup }) { return await enter() }
        guard phone.isOwner else { return }
        for other in phone.companions where !phone.memory.withLock({ $0.added.contains(other) }) {
            guard let user = phone.world.directory.user(of: other), user != phone.world.directory.user(of: phone.index) else { continue }
            let added: Void? = await attempt("invite") { () async throws(HeliographError) in
                _ = try await client.events.add(user, to: phone.topic)
                _ = try await client.chat.add(user, to: phone.topic)
            }
            guard await incarnation.pass(.step) else { return }
            phone.memory.withLock { _ = $0.added.insert(other) }
            if added != nil { phone.world.directory.invited(other) }
        }
    }

    private func enter() async {
        guard phone.isOwner || phone.world.directory.isInvited(phone.index) else { return }
        let entered: Void? = await attempt("enter") { () async throws(HeliographError) in
            try await client.events.enter(phone.topic)
            try await client.chat.enter(phone.topic)
        }
        guard await incarnation.pass(.step), entered != nil else { return }
        phone.memory.withLock { $0.isInGroup = true }
    }

    private func addPhoto() async {
        guard isInGroup else { return }
        let key = phone.memory.withLock { memory in
            memory.unsentPhoto = memory.unsentPhoto ?? UUID()
            return memory.unsentPhoto ?? UUID()
        }
        let id = await attempt("photo") { () async throws(HeliographError) in
            try await client.events.addPhoto(phone.world.photos.portrait, to: phone.topic, key: key)
        }
        guard await incarnation.pass(.step), id != nil else { return }
        phone.memory.withLock { $0.unsentPhoto = nil }
    }

    private func sendMessage() async {
        guard isInGroup else { return }
        let message = phone.memory.withLock { memory in
            let message = memory.unsent ?? ChatClient.Message("Hello from phone \(phone.index)")
            memory.unsent = message
            return message
        }
        let posted = await attempt("message") { () async throws(HeliographError) in try await client.chat.send(message, to: phone.topic) }
        guard await incarnation.pass(.step), posted != nil else { return }
        phone.memory.withLock { $0.unsent = nil }
    }

    /// Shows the conversation for a while, and marks it as read.
    private func openChat(_ seconds: Double) async {
        guard isInGroup else { return }
        try? await client.chat.setVisible(phone.topic)
        guard await incarnation.pass(.step) else { return }
        phone.note("The conversation is on the screen")
        phone.state.withLock { $0.visible = phone.topic }
        let read = await attempt("read") { () async throws(HeliographError) in try await client.chat.markRead(phone.topic) }
        if let read, read.badge < 0 || read.unread < 0 { phone.violate(.badge, "The API counts \(read)") }
        Task {
            try? await Task.sleep(for: .seconds(seconds))
            guard await incarnation.pass(.step) else { return }
            phone.state.withLock { $0.visible = nil }
            try? await client.chat.setVisible(nil)
        }
    }

    func signOut(another: Bool) async {
        phone.world.measurements.count(.signOut)
        phone.note("The person signs out\(another ? ", and another will sign in" : "")")
        phone.state.withLock { $0.visible = nil }
        phone.ledger.withLock { $0.abandon() }
        let isKnown = await attempt("sign out") { () async throws(HeliographError) in try await client.signOut() }
        guard let isKnown else { return }
        phone.note(isKnown ? "The API knows of the sign-out" : "The API does not know of the sign-out yet")
        // Orders that were made while the sign-out ran belong to it as well.
        phone.ledger.withLock { $0.abandon() }
        phone.memory.withLock { memory in
            memory.account = nil
            memory.firebase = nil
            memory.idToken = nil
            if another {
                memory.accountNumber += 1
                memory.email = nil
                memory.userOfEmail = nil
                memory.enrolment = .none
                memory.hasTriedStranger = true
            }
        }
    }
}
