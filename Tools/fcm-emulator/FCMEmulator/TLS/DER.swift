/// Writes the ASN.1 values that a certificate consists of (ITU-T X.690, distinguished encoding).
enum DER {
    /// A value: a tag, the length, the content.
    static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag] + length(content.count) + content
    }

    static func sequence(_ elements: [UInt8]...) -> [UInt8] { value(0x30, Array(elements.joined())) }
    static func set(_ elements: [UInt8]...) -> [UInt8] { value(0x31, Array(elements.joined())) }
    static func utf8(_ text: String) -> [UInt8] { value(0x0C, Array(text.utf8)) }
    static func octets(_ content: [UInt8]) -> [UInt8] { value(0x04, content) }
    static func bits(_ content: [UInt8], unused: UInt8 = 0) -> [UInt8] { value(0x03, [unused] + content) }
    static func utcTime(_ text: String) -> [UInt8] { value(0x17, Array(text.utf8)) }
    static func explicit(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { value(0xA0 | number, content) }

    static let null: [UInt8] = [0x05, 0x00]
    static let yes: [UInt8] = [0x01, 0x01, 0xFF]

    /// An integer that is not negative, from its big-endian bytes.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        var content = Array(bytes.drop { $0 == 0 })
        if content.first.map({ $0 >= 0x80 }) ?? true { content.insert(0, at: 0) }
        return value(0x02, content)
    }

    /// An object identifier; the first two numbers share a byte, the others are base 128.
    static func identifier(_ numbers: Int...) -> [UInt8] {
        var content = [UInt8(numbers[0] * 40 + numbers[1])]
        for number in numbers.dropFirst(2) {
            var groups = [UInt8(number & 0x7F)]
            var rest = number >> 7
            while rest > 0 {
                groups.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
                rest >>= 7
            }
            content += groups
        }
        return value(0x06, content)
    }

    private static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        var bytes: [UInt8] = []
        var rest = count
        while rest > 0 {
            bytes.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(bytes.count)] + bytes
    }
}
