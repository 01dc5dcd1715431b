public import Foundation

/// Events: their members and photos.
///
/// The photos of ten seconds cause one push to the members. An event's id is 1 to 64 characters of `A-Z a-z 0-9 _ -`, as in pushes; other
/// ids throw `invalid_argument`. If this person is not a member of the event, `topic_not_found` is thrown.
public struct EventsClient: Sendable {
    private let api: any APISender
    private let topics: TopicAccess
    private let forms: FormFolder
    private let scaler: (any PhotoScaling)?

    /// - Parameters:
    ///   - folder: The folder for the bodies of uploads while they are sent.
    ///   - scaler: Scales down photos that are larger than the API accepts; nil without a scaler.
    ///   - onBadge: Takes the number for the app's icon.
    init(
        api: any APISender, folder: URL, time: TimeSource = .system, scaler: (any PhotoScaling)? = nil,
        onBadge: @escaping @Sendable (Int, Date?) -> Void = { _, _ in }
    ) {
        self.api = api
        topics = TopicAccess(api: api, kind: .event, onBadge: onBadge)
        forms = FormFolder(url: folder, time: time)
        self.scaler = scaler
    }

    /// Deletes the bodies of uploads that a former process has left.
    func deleteLeftovers() { forms.deleteLeftovers() }

    // MARK: Members

    /// Enters an event: makes it if no event has this id, or accepts an invitation. Also succeeds for a member.
    ///
    /// - Throws: `forbidden` when the id is taken and this person is not invited, `limit_reached` with 200 topics.
    public func enter(_ eventID: String) async throws(HeliographError) { try await topics.enter(eventID) }

    /// Leaves an event, which ends with its last member; declines an invitation.
    public func leave(_ eventID: String) async throws(HeliographError) { try await topics.leave(eventID) }

    /// Invites a person, or adds them at once if they have agreed to that: they have accepted another invitation of the owner's and are
    /// still a member there, or have the owner among their contacts. Only the owner may do this.
    ///
    /// - Throws: `forbidden` for a member who is not the owner, `rate_limited` after 100 people in a day.
    public func add(_ userID: UUID, to eventID: String) async throws(HeliographError) -> TopicMembers.Addition {
        try await topics.add(userID, to: eventID)
    }

    /// Removes a member, or withdraws an invitation. Only the owner does this.
    public func remove(_ userID: UUID, from eventID: String) async throws(HeliographError) {
        try await topics.remove(userID, from: eventID)
    }

    /// Fetches a page of the members, of up to 1,000: all for the owner, for others the owner and themselves unless all are visible.
    public func members(of eventID: String, after cursor: UUID? = nil, limit: Int = 100) async throws(HeliographError) -> TopicMembers {
        try await topics.members(of: eventID, after: cursor, limit: limit)
    }

    /// Sets whether each member sees the others on the list of members. Only the owner does this.
    ///
    /// Pushes and lists of photos name the members who send something, however this is set.
    public func setMembersVisible(_ areVisible: Bool, in eventID: String) async throws(HeliographError) {
        try await topics.setMembersVisible(areVisible, in: eventID)
    }

    /// Marks all photos of an event as seen. The number on the icon follows.
    public func markSeen(_ eventID: String) async throws(HeliographError) -> TopicUnread { try await topics.read(eventID, upTo: nil) }

    /// Reports an event to the operators.
    public func report(_ eventID: String, _ report: ContentReport) async throws(HeliographError) {
        try await topics.report(eventID, report)
    }

    // MARK: Photos

    /// Fetches a page of the photos of an event, of up to 200, the newest first; without photos of people whom this one blocks.
    public func photos(
        of eventID: String, after cursor: String? = nil, limit: Int = 50
    ) async throws(HeliographError) -> PhotoList {
        try ArgumentLimits.listPage(limit)
        return try await api.send(TopicRequests.photos(of: try topics.name(eventID), after: cursor, limit: limit))
    }

    /// Adds a photo to an event. It is repeated where that may help.
    ///
    /// - Parameters:
    ///   - photo: A JPEG, PNG, WebP or HEIC file, which must not change meanwhile. A file of more than 10 MB, 40 megapixels or 12,000
    ///     pixels a side is scaled down before it is sent; any other file is sent unchanged.
    ///   - eventID: The event. This person is a member of it.
    ///   - key: Distinguishes new photos from repetitions. An app that sends a photo again after an error, even after a restart, gives the
    ///     same key: the photo is then added once, for 24 hours.
    /// - Returns: The photo's id.
    /// - Throws: `invalid_argument` for a file of another format, or a file that is too large and cannot be scaled down; `storage` when it
    ///   cannot be read, `invalid_image` for a damaged one, `limit_reached` with 5,000 photos, `rate_limited`, `idempotency_key_reused`
    ///   when the key belongs to another photo.
    public func addPhoto(_ photo: URL, to eventID: String, key: UUID = UUID()) async throws(HeliographError) -> UUID {
        let topic = try topics.name(eventID)
        let outgoing = try await OutgoingPhoto(.file(photo), .picture, field: "photo", scaler: scaler)
        // The API must not see the name that the app gave the file.
        let part = outgoing.part("photo", named: "photo")
        return try await forms.withForm([part]) { form throws(HeliographError) in
            try await api.send(
                TopicRequests.addPhoto(to: topic, body: .multipart(file: form.file, boundary: form.boundary), key: key))
        }
    }
}
