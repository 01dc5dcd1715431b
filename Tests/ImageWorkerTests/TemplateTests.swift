import Imaging
import Pictures
import Testing

@Suite struct TemplateTests {
    @Test func `the allowed template styles equal those of the local generator`() {
        #expect(ImageTemplate.styles == PictureStyle.allCases.map(\.rawValue))
    }
}
