extension String {
    /// Whether a text has 1 to the given number of characters of `A-Z a-z 0-9 _ -`, like ids that become parts of paths and names of files.
    ///
    /// - Parameter dots: Whether `.` may be in it as well.
    func isPlain(upTo length: Int, dots: Bool = false) -> Bool {
        (1...length).contains(utf8.count)
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                case UInt8(ascii: "."): dots
                default: false
                }
            }
    }
}
