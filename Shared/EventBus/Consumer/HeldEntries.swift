import DequeModule

/// The ids of the entries that a consumer holds, in ascending order.
///
/// A read appends them, and most leave from near the front: a search by halves and a short move cost less than hashing each id twice.
struct HeldEntries {
    private var ids: Deque<EntryID> = []

    var count: Int { ids.count }

    func contains(_ id: EntryID) -> Bool {
        let index = place(of: id)
        return index < ids.count && ids[index] == id
    }

    /// Adds an entry; false when it is held already.
    mutating func insert(_ id: EntryID) -> Bool {
        let index = place(of: id)
        if index == ids.count {
            ids.append(id)
            return true
        }
        if ids[index] == id { return false }
        ids.insert(id, at: index)
        return true
    }

    /// Removes an entry; false when it is not held.
    mutating func remove(_ id: EntryID) -> Bool {
        let index = place(of: id)
        guard index < ids.count, ids[index] == id else { return false }
        if index == 0 { ids.removeFirst() } else { ids.remove(at: index) }
        return true
    }

    var ascending: [EntryID] { Array(ids) }

    /// The index of the first id that is not below `id`.
    private func place(of id: EntryID) -> Int {
        if ids.isEmpty || ids[ids.count - 1] < id { return ids.count }
        var low = 0
        var high = ids.count - 1
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
