import ArgumentParser
import HeliographCtl

@main
enum HeliographCtlCommand {
    static func main() async {
        await HeliographCtl.main()
    }
}
