extension Array {
    /// Returns the indices of each run of adjacent elements that belong together, in order.
    ///
    /// - Parameter belongTogether: Whether an element belongs to the run of the one before it.
    func runs(where belongTogether: (Element, Element) -> Bool) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var start = 0
        for index in indices where index + 1 == count || !belongTogether(self[index], self[index + 1]) {
            runs.append(start..<index + 1)
            start = index + 1
        }
        return runs
    }
}
