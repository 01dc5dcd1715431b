extension EventTransport {
    /// Deletes the dead letters of a group that mention a text, such as the id of a user who is erased. Reads all of them, in pages.
    ///
    /// - Returns: The number of deleted dead letters.
    public func dropDeadLetters(of group: StreamGroup, mentioning text: String) async throws(EventBusError) -> Int {
        let (pageSize, needle) = (100, Array(text.utf8))
        var (last, dropped) = (EntryID.zero, 0)
        while true {
            let page = try await deadLetters(of: group, after: last, count: pageSize)
            let ids = page.filter { $0.mentions(needle) }.map(\.id)
            if !ids.isEmpty { dropped += try await drop(ids, of: group) }
            guard page.count == pageSize, let next = page.last?.id else { return dropped }
            last = next
        }
    }
}

extension DeadLetter {
    fileprivate func mentions(_ needle: [UInt8]) -> Bool {
        fields.contains { $0.value.firstRange(of: needle) != nil } || Array(error.utf8).firstRange(of: needle) != nil
    }
}
