import TestSupport

extension SeededGenerator {
    /// Returns random bytes, with line ends and RESP's type marks more frequent than others.
    mutating func bytes(upTo limit: Int) -> [UInt8] {
        let special = Array("\r\n$*:+-".utf8)
        return (0..<Int.random(in: 0...limit, using: &self)).map { _ in
            Bool.random(using: &self) ? special.randomElement(using: &self)! : UInt8.random(in: 0...255, using: &self)
        }
    }
}
