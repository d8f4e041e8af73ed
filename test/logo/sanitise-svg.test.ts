import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type SafeSvg, sanitiseSvg } from '../../src/logo/sanitise-svg.ts'
import { UnusableLogo } from '../../src/logo/unusable-logo.ts'

const namespaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'

/** An SVG with this content. */
function svg(content: string, attributes = ''): string {
  return `<svg ${namespaces} viewBox="0 0 10 10" ${attributes}>${content}</svg>`
}

/** The content that remains within the root. */
function remains(content: string): string {
  const { text } = sanitiseSvg(svg(content))
  const [, inner = ''] = /^<svg [^>]*?(?:\/>|>(.*)<\/svg>)$/s.exec(text) ?? assert.fail(text)
  return inner
}

/** Everything with which an image could run scripts, load resources or link elsewhere. */
const dangerous =
  /<(?!\/?(?:svg|g|defs|title|desc|stop|path|rect|circle|ellipse|line|polyline|polygon|text|tspan|linearGradient|radialGradient|clipPath|mask)[\s/>])|[\s"]on\w+\s*=|script|&(?!(?:amp|lt|gt|quot);)|\bstyle=|xlink|href="(?!#)|url\((?!["']?#|&quot;#)|@|data:|evil|base=/i

function assertHarmless({ text }: SafeSvg): void {
  const [, body = ''] =
    /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" (.*)$/s.exec(text) ?? assert.fail(text)
  assert.doesNotMatch(body, dangerous)
  assert.equal(sanitiseSvg(text).text, text, 'a safe image stays as it is')
}

const attacks: Record<string, string> = {
  'a script': svg('<script>evil()</script>'),
  'a script in CDATA': svg('<script><![CDATA[evil()]]></script>'),
  'a script by its address': svg('<script href="https://evil.example/x.js"/>'),
  'a script by an xlink': svg('<script xlink:href="data:text/javascript,evil()"/>'),
  'a script in another case': svg('<SCRIPT>evil()</SCRIPT><sCript>evil()</sCript>'),
  'a script with a prefix': svg('<s:script xmlns:s="http://www.w3.org/2000/svg">evil()</s:script>'),
  'a script of XHTML': svg('<h:script xmlns:h="http://www.w3.org/1999/xhtml">evil()</h:script>'),
  'a script within an allowed element': svg('<g><path d="M0 0"/><script>evil()</script></g>'),
  'a script within a text': svg('<text>x<script>evil()</script></text>'),
  'a script within a title': svg('<title><script>evil()</script></title>'),
  'a handler of the root': svg('', 'onload="evil()"'),
  'a handler of a shape': svg('<rect width="9" height="9" onclick="evil()" onmouseover="evil()"/>'),
  'a handler in another case': svg('<rect oNcLiCk="evil()"/>', 'ONLOAD="evil()"'),
  'a handler with a namespace': svg('<rect e:onclick="evil()" xmlns:e="http://www.w3.org/2001/xml-events"/>'),
  'a handler element': svg('<handler type="text/ecmascript">evil()</handler>'),
  'a listener': svg('<listener event="load" handler="#x" xmlns="http://www.w3.org/2001/xml-events"/>'),
  'a foreign object': svg(
    '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml">evil</body></foreignObject>',
  ),
  'a foreign object with a frame': svg(
    '<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="javascript:evil()"/></foreignObject>',
  ),
  'a link': svg('<a href="https://evil.example"><rect width="1" height="1"/></a>'),
  'a link with a script': svg('<a xlink:href="javascript:evil()"><rect width="1" height="1"/></a>'),
  'a link with a script in pieces': svg('<a href="java&#x0A;script:evil()"><rect width="1"/></a>'),
  'a link that is animated': svg(
    '<a><animate attributeName="href" values="javascript:evil()"/><rect width="1"/></a>',
  ),
  'an animated handler': svg('<rect><set attributeName="onmouseover" to="evil()"/></rect>'),
  'an animation with a handler': svg('<rect><animate onbegin="evil()" attributeName="x" dur="1s"/></rect>'),
  'animated transformations and motion': svg('<g><animateTransform/><animateMotion/><mpath/></g>'),
  'an image': svg('<image href="https://evil.example/x.png" width="1" height="1"/>'),
  'an image in the file': svg('<image xlink:href="data:image/svg+xml;base64,PHN2Zy8+"/>'),
  'a use of another file': svg('<use href="https://evil.example/x.svg#a"/>'),
  'a use of a script in the file': svg('<use href="data:image/svg+xml,&lt;svg onload=evil()/>#a"/>'),
  'a billion uses': svg('<g id="a"/><g id="b"><use href="#a"/><use href="#a"/></g><use href="#b"/>'),
  'a filter that loads': svg('<filter id="f"><feImage href="https://evil.example/x.png"/></filter>'),
  'a pattern that loads': svg('<pattern id="p"><image href="//evil.example/x.png"/></pattern>'),
  'a marker': svg('<marker id="m"><script>evil()</script></marker><path marker-end="url(//evil.example)"/>'),
  'a fill from elsewhere': svg('<rect fill="url(https://evil.example/x.svg#a)" width="1"/>'),
  'a fill from elsewhere without a scheme': svg('<rect fill="url(//evil.example/#a)" width="1"/>'),
  'a fill with a fallback from elsewhere': svg('<rect fill="url(#a) url(https://evil.example)" width="1"/>'),
  'a fill with escapes': svg('<rect fill="u\\72l(https://evil.example)" width="1"/>'),
  'a fill with quotes that end': svg('<rect fill="url(&quot;#a&quot; onload=evil)" width="1"/>'),
  'a mask by a set of images': svg(
    '<rect mask="image-set(&quot;https://evil.example/x&quot; 1x)" width="1"/>',
  ),
  'a mask with other functions': svg('<rect mask="-webkit-cross-fade(src(evil),element(evil))" width="1"/>'),
  'a clip path from elsewhere': svg('<rect clip-path="url(evil.svg#a)" width="1"/>'),
  'a cursor': svg('<rect cursor="url(https://evil.example), auto" width="1"/>'),
  'a style attribute': svg('<rect style="background:url(https://evil.example);fill:url(//evil.example)"/>'),
  'a style with an expression': svg('<rect style="fill:expression(evil())"/>'),
  'a style with a binding': svg('<rect style="-moz-binding:url(evil.xml#a);behavior:url(evil.htc)"/>'),
  'a style sheet that imports': svg('<style>@import "https://evil.example/x.css";</style>'),
  'a style sheet with a font': svg(
    '<style>@font-face{font-family:x;src:url(https://evil.example/x)}</style>',
  ),
  'a style sheet with an image': svg('<style>.a{fill:url(https://evil.example)}</style><rect class="a"/>'),
  'a style sheet with markup': svg('<style>&lt;/style&gt;&lt;script&gt;evil()&lt;/script&gt;</style>'),
  'a style sheet with markup in CDATA': svg('<style><![CDATA[</style><script>evil()</script>]]></style>'),
  'a style sheet with escapes': svg('<style>.a{fill:\\75rl(https://evil.example)}</style><rect class="a"/>'),
  'a style sheet that leaves an attribute': svg(
    `<style>.a{fill:red" onload="evil()}</style><rect class="a"/>`,
  ),
  'a processing instruction': `<?xml-stylesheet href="https://evil.example/x.css"?>${svg('')}`,
  'an instruction within': svg('<?php evil() ?><?xml-stylesheet href="evil"?>'),
  'a comment': svg('<!-- <script>evil()</script> --><!--[if IE]><script>evil()</script><![endif]-->'),
  'an HTML comment that ends early': svg(
    '<desc>--&gt;&lt;script&gt;evil()&lt;/script&gt;</desc>'
      .replaceAll('evil', 'x')
      .replaceAll('script', 'b'),
  ),
  'a doctype': `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "https://evil.example/svg.dtd">${svg('')}`,
  'a doctype with attributes': `<!DOCTYPE svg [<!ATTLIST svg onload CDATA "evil()">]>${svg('')}`,
  'an external entity': `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>${svg('<text>&x;</text>')}`,
  'an internal entity': `<!DOCTYPE svg [<!ENTITY x "<script>evil()</script>">]>${svg('<text>&x;</text>')}`,
  'a billion laughs': `<!DOCTYPE svg [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY c "&b;&b;">]>${svg('<text>&c;</text>')}`,
  'a parameter entity': `<!DOCTYPE svg [<!ENTITY % p SYSTEM "https://evil.example/x.dtd">%p;]>${svg('')}`,
  'text that looks like markup': svg('<text>&lt;img src=x&gt;</text>'),
  'text outside of text': svg('evil<g>evil</g>'),
  'a base address': svg('<rect width="1" xml:base="https://evil.example/" base="evil"/>'),
  'an XInclude': svg('<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/>'),
  'an embedded document': svg(
    '<iframe src="evil"/><embed src="evil"/><object data="evil"/><video src="evil"/>',
  ),
  'an inner svg': svg('<svg onload="evil()"><script>evil()</script></svg>'),
  'an ID that leaves its attribute': svg('<g id="a&quot; onload=&quot;evil()"/>'),
  'a gradient from elsewhere': svg('<linearGradient id="g" xlink:href="https://evil.example/#a"/>'),
  'a gradient by a script': svg('<linearGradient id="g" href="javascript:evil()"/>'),
  metadata: svg(
    '<metadata><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">evil</rdf:RDF></metadata>',
  ),
  'a view and a discard': svg('<view id="v"/><discard href="#evil"/>'),
  'a text path': svg('<text><textPath href="https://evil.example/#a">x</textPath></text>'),
}

describe('an SVG logo', () => {
  for (const [what, source] of Object.entries(attacks)) {
    it(`removes ${what}`, () => {
      try {
        assertHarmless(sanitiseSvg(source))
      } catch (error) {
        if (!(error instanceof UnusableLogo)) throw error
      }
    })
  }

  it('keeps only its shapes for any combination of attacks', () => {
    const parts = Object.values(attacks).map((source) => source.slice(source.indexOf('>') + 1, -6))
    const piece = fc.constantFrom(
      ...parts,
      '<g>',
      '</g>',
      '<rect width="1"',
      '/>',
      '"',
      ' fill="',
      '&#38;lt;',
      ']]>',
    )
    const pieces = fc.array(piece, { maxLength: 6 })
    fc.assert(
      fc.property(pieces, (chosen) => {
        try {
          assertHarmless(sanitiseSvg(svg(chosen.join(''))))
        } catch (error) {
          if (!(error instanceof UnusableLogo)) throw error
        }
      }),
      { seed: 35, numRuns: 300 },
    )
  })

  it('keeps its shapes, gradients and clip paths unchanged', () => {
    const drawing = [
      '<title>Acme &amp; Söhne</title>',
      '<defs><linearGradient id="g" x1="0" x2="1"><stop offset="0" stop-color="#0d6570"/></linearGradient></defs>',
      '<linearGradient id="h" href="#g"/><clipPath id="c"><circle cx="5" cy="5" r="4"/></clipPath>',
      '<g transform="translate(1 2) rotate(45)" clip-path="url(#c)">',
      '<path d="M0 0L10 10Z" fill="url(#g)" stroke="rgb(1 2 3 / 50%)" stroke-width="1.5"/></g>',
      '<text x="1" y="2" font-family="Inter, \'Open Sans\', sans-serif">Acme <tspan dx="1">Ltd</tspan></text>',
    ].join('')
    assert.equal(remains(drawing), drawing)
    assert.deepEqual(sanitiseSvg(svg(drawing)).removed, [])
  })

  it('converts styles to attributes, by precedence', () => {
    const sheet =
      'rect{fill:red;stroke:red} .a , .b{fill:green!important;-x:y} #i{stroke:blue} .c{opacity:.5}'
    assert.equal(
      remains(
        `<style><![CDATA[${sheet}]]></style><rect id="i" class="b" fill="black" style="opacity: 0.2"/>`,
      ),
      '<rect id="i" fill="green" stroke="blue" opacity="0.2"/>',
    )
    assert.equal(
      remains('<circle class="c" r="1"/><style>.c{fill:red}</style>'),
      '<circle r="1" fill="red"/>',
    )
  })

  it('keeps the content of links and switches, and gradients with an xlink reference', () => {
    const switched = '<switch><foreignObject/><g><rect width="1"/></g></switch>'
    assert.equal(remains(switched), '<g><g><rect width="1"/></g></g>')
    assert.equal(remains('<a href="x"><rect width="1"/></a>'), '<g><rect width="1"/></g>')
    assert.equal(remains('<radialGradient id="r" xlink:href="#g"/>'), '<radialGradient id="r" href="#g"/>')
  })

  it('drops nested clip paths, which would multiply the work of rendering', () => {
    assert.equal(
      remains('<clipPath id="c" clip-path="url(#d)"><g clip-path="url(#d)"><path d="M0 0"/></g></clipPath>'),
      '<clipPath id="c"><g><path d="M0 0"/></g></clipPath>',
    )
  })

  it('reports what was removed, except what has no effect', () => {
    const { removed } = sanitiseSvg(
      svg(
        '<script/><image href="x"/><rect onclick="x" class="a" data-x="1" fill="url(x)"/>',
        'version="1.1"',
      ),
    )
    assert.deepEqual(removed, ['script', 'image', 'onclick', 'fill'])
  })

  const sizes: [attributes: string, width: number, height: number, viewBox: string][] = [
    ['viewBox="0 0 20 10"', 20, 10, '0 0 20 10'],
    ['width="40px" height="20" viewBox="-1,-2 , 20,10"', 40, 20, '-1 -2 20 10'],
    ['width="40" height="20.4"', 40, 20, '0 0 40 20.4'],
    ['width="100%" height="100%" viewBox="0 0 5 5"', 5, 5, '0 0 5 5'],
    ['viewBox="0 0 8000 10"', 2_000, 3, '0 0 8000 10'],
  ]
  for (const [attributes, width, height, viewBox] of sizes) {
    it(`has a size with ${attributes}`, () => {
      const safe = sanitiseSvg(`<svg xmlns="http://www.w3.org/2000/svg" ${attributes}/>`)
      assert.deepEqual([safe.width, safe.height], [width, height])
      assert.ok(safe.text.includes(` width="${width}" height="${height}" viewBox="${viewBox}"`), safe.text)
    })
  }

  const unusable: Record<string, string> = {
    'no size': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'a size of nothing': '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 0 10"/>',
    'another root': '<html xmlns="http://www.w3.org/1999/xhtml"><svg/></html>',
    'a root without a namespace': '<svg viewBox="0 0 1 1"/>',
    'a tag that is not closed': svg('<g>'),
    'an attribute that is repeated': svg('<g id="a" id="b"/>'),
    'a prefix that is not declared': svg('<g x:id="a"/>'),
    'two roots': svg('') + svg(''),
    'an entity of HTML': svg('<text>&nbsp;</text>'),
    'too many levels': svg('<g>'.repeat(100) + '</g>'.repeat(100)),
    'styles that make it too large': svg(
      `<style>.a{${['fill', 'stroke', 'color', 'stop-color'].map((name) => `${name}:rgb(${' '.repeat(300)}1 2 3)`).join(';')}}</style>${'<g class="a"/>'.repeat(200)}`,
    ),
    'no text at all': '',
  }
  for (const [what, source] of Object.entries(unusable)) {
    it(`cannot be used with ${what}`, () => assert.throws(() => sanitiseSvg(source), UnusableLogo))
  }

  it('says how to avoid entities, which drawing programs use for namespaces', () => {
    const declared = '<!DOCTYPE svg [\n<!ENTITY ns "http://www.w3.org/2000/svg">\n]>\n'
    assert.throws(
      () => sanitiseSvg(`${declared}<svg xmlns="&ns;" viewBox="0 0 1 1"/>`),
      new UnusableLogo('uses an XML entity (line 4); export it as plain SVG'),
    )
  })
})
