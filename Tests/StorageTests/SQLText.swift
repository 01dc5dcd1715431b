/// The text of a statement as both its source and the record of Postgres have it.
enum SQLText {
    /// Returns a text with one space for each run of white space, and `?` for each parameter and constant: Postgres records a parameter
    /// for a constant. NULL and the truth values are constants, too.
    static func normalised(_ sql: some Collection<UInt8>) -> String {
        let bytes = Array(sql)
        var (result, index): ([UInt8], Int) = ([], 0)
        func skip(while condition: (UInt8) -> Bool) { while index < bytes.count, condition(bytes[index]) { index += 1 } }
        while index < bytes.count {
            let start = index
            let byte = bytes[index]
            index += 1
            switch byte {
            case 0x20, 0x0A, 0x09:
                skip { $0 == 0x20 || $0 == 0x0A || $0 == 0x09 }
                result.append(0x20)
            case 0x27:
                // A doubled quote ends a constant and begins the next one.
                skip { $0 != 0x27 }
                index += 1
                if result.last != constant || bytes[start - 1] != 0x27 { result.append(constant) }
            case 1:
                result.append(constant)
            case 0x24 where index < bytes.count && isDigit(bytes[index]):
                skip(while: isDigit)
                result.append(constant)
            case _ where isDigit(byte):
                skip { isDigit($0) || $0 == 0x2E }
                if result.last == 0x2D, result.count < 2 || result[result.count - 2] == 0x20 || result[result.count - 2] == 0x28 {
                    result.removeLast()
                }
                result.append(constant)
            case _ where isLetter(byte):
                skip { isLetter($0) || isDigit($0) }
                let word = bytes[start..<index]
                let isUnit = result.ends(with: "extract(".utf8)
                if isUnit || constants.contains(String(decoding: word, as: UTF8.self).lowercased()) {
                    result.append(constant)
                } else {
                    result += word
                }
            default:
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static let constant: UInt8 = 0x3F
    private static let constants: Set<String> = ["null", "true", "false"]

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F || byte >= 0x80
    }
}

extension Collection where Element == UInt8 {
    fileprivate func ends(with suffix: some Collection<UInt8>) -> Bool { self.suffix(suffix.count).elementsEqual(suffix) }
}
