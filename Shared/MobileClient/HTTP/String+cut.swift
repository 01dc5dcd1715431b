extension String {
    /// The beginning of a text from outside, of so many bytes at most, cut between two Unicode scalars.
    ///
    /// A number of characters is no limit: one may consist of any number of scalars.
    func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(unicodeScalars[..<end])
    }
}
