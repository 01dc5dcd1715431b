import HTTPTypes
import Testing

@testable import IdentityAPI

/// Tests the readers of header values on their own.
@Suite struct HeaderTests {
    @Test(arguments: [
        (#""5-7""#, true), (" \"x\" ,\tW/\"5-7\" ", true), ("*", true), (" * ", true), (#""5 -7""#, false), (#""5-7"#, false), ("", false),
        (" ", false), (#""x","5-70""#, false),
    ])
    func `an entity tag is current only if it is the same to the last character`(value: String, isCurrent: Bool) {
        var fields = HTTPFields()
        fields[.ifNoneMatch] = value
        #expect(fields.hasCurrent(#""5-7""#) == isCurrent)
    }
}
